/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Helpers of the element's tests: elements, harnesses and buses, and frames with known samples. A helper that finds an
 * error fails the test.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define DEVICE "memory:CUDAMemory"
#define FRAME_TIME (40 * GST_MSECOND)

/* The backends that tests with a loop index run on. */
extern const char *backends[2];
extern int n_backends;
#define BACKEND backends[__i__]
#define EACH(test) tcase_add_loop_test(each, test, 0, n_backends)

gboolean have_gpu(void);

/* Add the tests of the other files. once: for tests that run once or in a loop of their own; each: for tests that run
 * once per backend. */
void add_analytics_tests(TCase *each);
void add_live_tests(TCase *each);
void add_error_tests(TCase *once, TCase *each);
void add_format_tests(TCase *once, TCase *each);
void add_hostile_tests(TCase *once, TCase *each);
void add_isolated_tests(TCase *once, TCase *each);
void add_kernelfile_tests(TCase *once);
void add_mask_limit_tests(TCase *once, TCase *each);
void add_mask_tests(TCase *once, TCase *each);
void add_polygon_tests(TCase *once, TCase *each);
void add_preset_tests(TCase *once);
void add_region_tests(TCase *once, TCase *each);
void add_time_tests(TCase *each);
void add_turned_tests(TCase *each);
void add_unused_tests(TCase *once);
void add_waiting_tests(TCase *each);
void add_zone_tests(TCase *once, TCase *each);

/* ---- elements, harnesses, buses ---- */

/* Sets properties. set: "name=value", NULL at the end. */
void set_all(GstElement *element, const char *const *set);
#define SET(element, ...) set_all(element, (const char *const[]){__VA_ARGS__, NULL})

/* Returns a new element. bus: set to a bus of the element's own, for free_element; may be NULL. */
GstElement *make_element(const char *backend, GstBus **bus);
void free_element(GstElement *element, GstBus *bus);

/* Returns a harness, and takes ownership of the element. format: other fields of the caps may follow it, as in
 * "GRAY8,interlace-mode=mixed". */
GstHarness *harness_of(GstElement *element, const char *format, int width, int height);

/* Returns a harness of a new element with these properties, NULL at the end. */
GstHarness *harness_with(const char *backend, const char *format, int width, int height, const char *const *set);
#define HARNESS(backend, format, width, height, ...)                                                                   \
  harness_with(backend, format, width, height, (const char *const[]){__VA_ARGS__, NULL})

/* Returns a harness as harness_with does, of an element with a bus of its own, which the caller reads. */
GstHarness *watched_harness(GstBus **bus, const char *backend, const char *format, int width, int height,
                            const char *const *set);
void free_watched_harness(GstHarness *h, GstBus *bus);
#define WATCHED_HARNESS(bus, backend, format, width, height, ...)                                                      \
  watched_harness(bus, backend, format, width, height, (const char *const[]){__VA_ARGS__, NULL})

/* The property roi-invert, for SET and the like. */
#define ROI_INVERT(invert) ((invert) ? "roi-invert=true" : "roi-invert=false")

/* Pops the messages of a type, and fails unless each has the fragment. Returns their number. */
int count_messages(GstBus *bus, GstMessageType type, const char *fragment);

/* Returns the value of a property as in a pipeline description, without the types of an array's entries, and flags as a
 * number. Free with g_free. */
char *read_back(GstElement *element, const char *name);

void check_string(const GstStructure *stats, const char *field, const char *expected);

/* ---- frames ---- */

/* Sets the times of frame i. */
void stamp(GstBuffer *buffer, guint i);

/* Return a GRAY8 frame, and TRUE if one has the expected samples. pixels, expected: height * width samples without
 * padding. */
GstBuffer *gray_buffer(int width, int height, const guint8 *pixels, guint i);
gboolean gray_equals(GstBuffer *buffer, int width, int height, const guint8 *expected);

/* Filters a GRAY8 frame of `size` samples without padding, and copies the samples of the output to pixels. Takes
 * ownership of the frame. */
void filter_gray(GstHarness *h, GstBuffer *frame, guint8 *pixels, gsize size);

/* Tests of regions turn black into white on a black GRAY8 frame, so that the output is the regions' weight times
 * 255. */
#define NEGATIVE "filter=identity", "scale=-1", "bias=1"
GstBuffer *black_frame(int width, int height, guint i);

/* Fails if a pixel differs by `slack` or more from 255 times its weight or, with invert, from 255 times 1 minus its
 * weight. what: begins the message. */
void expect_weights(const guint8 *pixels, int width, int height, const double *weights, gboolean invert, double slack,
                    const char *what);

/* A ramp, and its mean over 3x3 samples with the edge repeated, computed by hand: with v = 9x + 36y, the mean adds 3 at
 * the left edge and 12 at the top edge, and subtracts as much at the right and the bottom. */
#define W 4
#define H 3
extern const guint8 ramp[W * H];
extern const guint8 ramp_box[W * H];

/* Pushes the ramp as frame i, pulls the output and checks its time. expect_ramp also checks its samples. */
GstBuffer *push_ramp(GstHarness *h, guint i);
void expect_ramp(GstHarness *h, guint i, const guint8 *expected);

/* Returns a buffer of one plane with a meta: height rows of `row` bytes, at an offset and `stride` bytes apart. */
GstBuffer *packed_buffer(GstVideoFormat format, int width, int height, const guint8 *bytes, gsize row, gsize offset,
                         int stride);
/* Returns the ramp at an offset, in rows of that stride. */
GstBuffer *strided_ramp(gsize offset, int stride);

/* Fills each channel of each plane with a value of its own, or returns TRUE if all have that value. */
gboolean flat_frame(const CnvFormat *format, const GstVideoInfo *info, GstBuffer *buffer, gboolean fill);
