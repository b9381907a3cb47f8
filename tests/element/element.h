/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the element's tests share: elements, harnesses and buses, and frames whose samples are known. A helper that
 * finds something wrong fails the test.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define DEVICE "memory:CUDAMemory"
#define FRAME_TIME (40 * GST_MSECOND)

/* What the tests with a loop index run on. */
extern const char *backends[2];
extern int n_backends;
#define BACKEND backends[__i__]
#define EACH(test) tcase_add_loop_test(each, test, 0, n_backends)

gboolean have_gpu(void);

/* The tests of the other files. once: as often as they say themselves; each: once a backend. */
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

/* set: "name=value", NULL at the end. */
void set_all(GstElement *element, const char *const *set);
#define SET(element, ...) set_all(element, (const char *const[]){__VA_ARGS__, NULL})

/* bus: where to put a bus of the element's own, for free_element; or NULL. */
GstElement *make_element(const char *backend, GstBus **bus);
void free_element(GstElement *element, GstBus *bus);

/* Takes the element. format: more fields of the caps can follow it, "GRAY8,interlace-mode=mixed". */
GstHarness *harness_of(GstElement *element, const char *format, int width, int height);

/* Ends with the properties, NULL at the end. */
GstHarness *harness_with(const char *backend, const char *format, int width, int height, const char *const *set);
#define HARNESS(backend, format, width, height, ...)                                                                   \
  harness_with(backend, format, width, height, (const char *const[]){__VA_ARGS__, NULL})

/* Pops the messages of a type, fails unless each has the fragment, and returns how many there were. */
int count_messages(GstBus *bus, GstMessageType type, const char *fragment);

/* The value of a property as a pipeline has it, without the types of an array's entries; flags as a number. */
char *read_back(GstElement *element, const char *name);

void check_string(const GstStructure *stats, const char *field, const char *expected);

/* ---- frames ---- */

/* Times of the frame with that number. */
void stamp(GstBuffer *buffer, guint i);

/* pixels, expected: height * width samples without padding. */
GstBuffer *gray_buffer(int width, int height, const guint8 *pixels, guint i);
gboolean gray_equals(GstBuffer *buffer, int width, int height, const guint8 *expected);

/* Takes a GRAY8 frame of `size` samples without padding, and copies the samples of the output to pixels. */
void filter_gray(GstHarness *h, GstBuffer *frame, guint8 *pixels, gsize size);

/* Tests of regions turn black into white on a black GRAY8 frame, so that the output is the regions' weight times 255.
 */
#define NEGATIVE "filter=identity", "scale=-1", "bias=1"
GstBuffer *black_frame(int width, int height, guint i);

/* Fails if a pixel differs by `slack` or more from 255 times its weight, or with invert from 255 times 1 minus that.
 * what: begins the message. */
void expect_weights(const guint8 *pixels, int width, int height, const double *weights, gboolean invert, double slack,
                    const char *what);

/* A ramp and its mean over 3x3 samples with the edge repeated, worked out by hand: with v = 9x + 36y the mean adds 3 at
 * the left and 12 at the top edge, and takes as much at the right and bottom. */
#define W 4
#define H 3
extern const guint8 ramp[W * H];
extern const guint8 ramp_box[W * H];

/* Pushes the ramp as frame i, pulls what comes of it and checks its time; expect_ramp its samples too. */
GstBuffer *push_ramp(GstHarness *h, guint i);
void expect_ramp(GstHarness *h, guint i, const guint8 *expected);

/* A buffer of one plane: height rows of `row` bytes, written a stride apart behind an offset, as its meta says. */
GstBuffer *packed_buffer(GstVideoFormat format, int width, int height, const guint8 *bytes, gsize row, gsize offset,
                         int stride);
/* The ramp behind an offset, in rows of an odd stride. */
GstBuffer *strided_ramp(gsize offset, int stride);

/* Fills each channel of each plane with a value of its own, or compares with that. */
gboolean flat_frame(const CnvFormat *format, const GstVideoInfo *info, GstBuffer *buffer, gboolean fill);
