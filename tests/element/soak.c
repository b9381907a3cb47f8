/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element over many frames. All live properties are drawn anew every 10th frame, some of them not valid. Each frame
 * has other regions of interest, and every 1000th has new caps. No frame may be lost or wait longer than the filter
 * looks ahead, each rejection is reported once, and memory must not grow.
 *
 * Usage: soak [--frames N] [--no-memory] [--seed N]
 */
#include <convolve/backend.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/device.h"
#include "element/soak_settings.h"
#include "support/suite.h"

#define FRAME_TIME (40 * GST_MSECOND)
#define SETTINGS_FRAMES 10 /* frames with the same settings */
#define CAPS_FRAMES 1000   /* frames with the same caps */
#define KNOWN_FRAME 500    /* with each caps: SETTINGS_FRAMES frames from this one on have a known result */
#define REGIONS_FRAME 750  /* like KNOWN_FRAME, but in regions */
#define NOISE (1 << 21)

/* For conditions that are checked millions of times: check writes a line to a file for each of its own assertions that
 * holds. */
#define REQUIRE(condition, ...)                                                                                        \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      ck_abort_msg(__VA_ARGS__);                                                                                       \
  } while (0)

static const struct {
  const char *format;
  int width, height;
  GstVideoInterlaceMode interlaced;
} caps_rows[] = {
    {"NV12", 320, 240, GST_VIDEO_INTERLACE_MODE_PROGRESSIVE},
    {"P010_10LE", 322, 238, GST_VIDEO_INTERLACE_MODE_INTERLEAVED},
    {"RGBA", 320, 240, GST_VIDEO_INTERLACE_MODE_PROGRESSIVE},
};

#define CYCLE_FRAMES ((int)G_N_ELEMENTS(caps_rows) * CAPS_FRAMES)

/* Memory is compared with its size at the end of this cycle. Everything that is made once exists after the first cycle
 * through the caps, and some strings and tables are added in the second. The driver of an H200 used 6.2 MiB of the heap
 * in the third, and nothing in the 21 that followed. */
#define WARM_UP_CYCLES 4

/* Settings are drawn for this many cycles, and then the same settings again. So the warm-up meets the largest need of
 * memory, 8 MiB for the widest filter, and what grows after it is lost. */
#define DRAWN_CYCLES (WARM_UP_CYCLES - 1)
#define CYCLES_LEAST (WARM_UP_CYCLES + 5)
#define MANY_CYCLES 16 /* number of cycles after the warm-up */

/* Threads of the CPU engine. Each has memory of its own, which grows until the widest filter was used. On machines with
 * many processors, one thread per processor would hide a leak. */
#define THREADS 4

/* Arrays of regions, plans and tiles grow to the largest need so far, ever more seldom, but by doubling. Tiles of 16
 * threads by 256 KiB were seen, and on an H200 a single step of 1.5 MiB after ten cycles of some KiB. The next limit
 * finds what is lost in each cycle. */
#define HEAP_TOLERANCE (4 << 20)

/* A leak grows in each cycle. All samples are taken with the same caps and settings. If nothing else grew, they differ
 * by no more than some hundred bytes, but now and then a frame more or less is held, of 112 KiB. The smallest block,
 * lost at each change of settings, adds up to 9 KiB per cycle; 2 KiB lost at each change of caps add up to 6. */
#define HEAP_CYCLE_TOLERANCE (4 << 10)

/* Resident pages also have gaps of the heap and the stacks of threads, which settle late: half a MiB was seen. Pages
 * that frames of a history leave empty, some MiB, are released before the measurement. The heap's own steps are
 * included: on an H200 one of 2.6 MiB after 13 cycles, the last ten of which had not grown. A frame kept at each change
 * of caps adds up to 0.6 MiB per cycle, and at each change of settings to 55. */
#define RSS_TOLERANCE (HEAP_TOLERANCE + (2 << 20))

/* The driver allocates memory in pieces of 2 MiB, and others use the GPU, too. If each frame that is filtered left one
 * behind, it would be 500 MiB per cycle. */
#define DEVICE_TOLERANCE (16 << 20)

/* A leak on the GPU may be less than a piece per cycle. Then a piece is allocated only in some cycles; a piece in each
 * is a leak. */
#define DEVICE_CYCLE_TOLERANCE 0

static int n_frames = 18000;
static gboolean no_memory;
static int seed = -1;
static const char *backends[2] = {"cpu"};
static int n_backends = 1;

/* ---- memory ---- */

typedef enum { RESIDENT, HEAP, DEVICE, N_MEMORIES } MemoryKind;

/* Largest growth of each kind of memory: after the warm-up, and in each single cycle. */
static const struct {
  const char *name;
  gint64 tolerance, cycle_tolerance;
} memories[N_MEMORIES] = {
    {"resident memory", RSS_TOLERANCE, G_MAXINT64},
    {"the heap", HEAP_TOLERANCE, HEAP_CYCLE_TOLERANCE},
    {"memory on the GPU", DEVICE_TOLERANCE, DEVICE_CYCLE_TOLERANCE},
};

typedef struct {
  gint64 bytes[N_MEMORIES]; /* resident, allocated, in use on the GPU (minus a constant) */
} Memory;

static gint64
resident_bytes(void)
{
  long all, resident;
  FILE *file = fopen("/proc/self/statm", "r");

  ck_assert_msg(file && fscanf(file, "%ld %ld", &all, &resident) == 2, "/proc/self/statm cannot be read");
  fclose(file);
  return (gint64)resident * sysconf(_SC_PAGESIZE);
}

static Memory
memory_now(const char *backend)
{
  struct mallinfo2 info = mallinfo2();
  gboolean cuda = strcmp(backend, "cuda") == 0;

  malloc_trim(0);
  return (Memory){{[RESIDENT] = resident_bytes(),
                   [HEAP] = info.uordblks + info.hblkhd,
                   [DEVICE] = cuda ? -(gint64)test_device_free_bytes() : 0}};
}

/* Returns TRUE if memory can be measured. AddressSanitizer keeps freed memory, and has its own allocator. */
static gboolean
memory_can_be_told(void)
{
#ifdef __SANITIZE_ADDRESS__
  return FALSE;
#else
  return TRUE;
#endif
}

/* ---- the stream ---- */

typedef struct {
  const char *backend;
  GstElement *element;
  GstBus *bus;
  GstHarness *harness;
  GRand *rng;
  guint8 *noise;
  GstVideoInfo info;
  Settings settings;
  GQueue waiting;        /* input buffers that have not come out yet */
  gboolean moved;        /* with the settings in force, the only region of a frame has a target */
  int ahead;             /* frames that are waited for, with the settings in force */
  int warnings, refused; /* warnings: messages that came; refused: messages that should come */
  GArray *samples;       /* Memory, one per cycle */
  gint64 start;
} Soak;

static void
soak_init(Soak *soak, const char *backend)
{
  *soak = (Soak){.backend = backend, .settings = shift, .start = g_get_monotonic_time()};
  soak->samples = g_array_sized_new(FALSE, FALSE, sizeof(Memory), n_frames / CYCLE_FRAMES);
  soak->element = gst_object_ref_sink(gst_element_factory_make("cudaconvolve", NULL));
  ck_assert_msg(soak->element != NULL, "no element cudaconvolve");
  soak->bus = gst_bus_new();
  gst_element_set_bus(soak->element, soak->bus);
  gst_util_set_object_arg(G_OBJECT(soak->element), "backend", backend);
  g_object_set(soak->element, "n-threads", THREADS, NULL);
  set_settings(soak->element, &shift);
  soak->harness = gst_harness_new_with_element(soak->element, "sink", "src");
  soak->rng = g_rand_new_with_seed(seed);
  soak->noise = g_malloc(NOISE);
  for (int i = 0; i < NOISE; i++)
    soak->noise[i] = g_rand_int(soak->rng);
}

static void
soak_clear(Soak *soak)
{
  gst_harness_teardown(soak->harness);
  gst_element_set_bus(soak->element, NULL);
  gst_object_unref(soak->bus);
  gst_object_unref(soak->element);
  g_array_unref(soak->samples);
  g_rand_free(soak->rng);
  g_free(soak->noise);
}

/* Counts the rejection of settings. To be called when the element gets new settings, or new caps, for which it reports
 * settings again. */
static void
count_refusal(Soak *soak)
{
  const Settings *settings = &soak->settings;

  if (is_refused(settings, soak->backend, &soak->info)) {
    soak->refused++;
    return;
  }
  soak->moved = strcmp(settings->regions.source, "none") != 0 && settings->regions.target_x >= 0;
  soak->ahead = count_ahead(settings);
}

static void
next_caps(Soak *soak, int frame)
{
  gsize row = frame / CAPS_FRAMES % G_N_ELEMENTS(caps_rows);

  gst_video_info_set_interlaced_format(&soak->info, gst_video_format_from_string(caps_rows[row].format),
                                       caps_rows[row].interlaced, caps_rows[row].width, caps_rows[row].height);
  soak->info.fps_n = 25;
  gst_harness_set_src_caps(soak->harness, gst_video_info_to_caps(&soak->info));
  count_refusal(soak);
}

static gboolean
is_known(int frame, int known)
{
  return frame % CAPS_FRAMES / SETTINGS_FRAMES == known / SETTINGS_FRAMES;
}

/* Sets a value that is rejected at once. */
static void
set_bad_value(Soak *soak)
{
  static const char *const bad[][2] = {{"kernel", "<1,x>"},
                                       {"kernel-y", "<<1>>"},
                                       {"kernel-location", "/nowhere"},
                                       {"roi", "<1,2>"},
                                       {"roi-polygons", "<<1,2,3>>"}};
  const char *const *row = PICK(soak->rng, bad);

  set_text(soak->element, row[0], row[1]);
  soak->refused++;
}

/* Draws settings, sometimes after a bad value. */
static void
next_settings(Soak *soak, int frame)
{
  if (seldom(soak->rng, 16))
    set_bad_value(soak);
  soak->settings = is_known(frame, KNOWN_FRAME) || is_known(frame, REGIONS_FRAME)
                       ? shift
                       : draw_settings(soak->rng, GST_VIDEO_INFO_HAS_ALPHA(&soak->info));
  if (is_known(frame, REGIONS_FRAME))
    soak->settings.regions.source = "meta";
  set_settings(soak->element, &soak->settings);
  count_refusal(soak);
}

/* Returns TRUE if the frame may wait until there are other settings, with which a region may have a target. */
static gboolean
meets_next_settings(guint frame)
{
  return frame % SETTINGS_FRAMES >= SETTINGS_FRAMES - MAX_AHEAD;
}

/* Adds a mask of noise, of random size. */
static void
add_mask(const Soak *soak, GstVideoRegionOfInterestMeta *meta)
{
  int width = g_rand_int_range(soak->rng, 1, 60), height = g_rand_int_range(soak->rng, 1, 40);
  GstBuffer *mask = gst_buffer_new_allocate(NULL, (gsize)(width * height), NULL);

  gst_buffer_fill(mask, 0, soak->noise, (gsize)(width * height));
  gst_buffer_add_video_meta(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, (guint)width, (guint)height);
  gst_buffer_get_video_meta(mask)->stride[0] = width;
  gst_video_region_of_interest_meta_add_param(meta, gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
  gst_buffer_unref(mask);
}

/* Adds regions. Some reach beyond the frame or are outside, some are empty, and some have a mask. */
static void
add_regions(const Soak *soak, guint frame, GstBuffer *buffer)
{
  static const char *const types[] = {"face", "plate", "car"};
  int n = g_rand_int_range(soak->rng, 0, soak->moved || meets_next_settings(frame) ? 2 : 5);

  while (n-- > 0) {
    guint x = g_rand_int_range(soak->rng, 0, soak->info.width + 20), width = g_rand_int_range(soak->rng, 0, 80);
    guint y = g_rand_int_range(soak->rng, 0, soak->info.height + 20), height = g_rand_int_range(soak->rng, 0, 80);

    GstVideoRegionOfInterestMeta *meta =
        gst_buffer_add_video_region_of_interest_meta(buffer, PICK(soak->rng, types), x, y, width, height);

    if (!is_known((int)frame, REGIONS_FRAME) && seldom(soak->rng, 4))
      add_mask(soak, meta);
  }
}

static GstBuffer *
make_frame(const Soak *soak, guint frame)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, soak->info.size, NULL);

  gst_buffer_fill(buffer, 0, soak->noise + frame * 61 % (NOISE - soak->info.size), soak->info.size);
  GST_BUFFER_PTS(buffer) = frame * FRAME_TIME;
  GST_BUFFER_DTS(buffer) = frame * FRAME_TIME + 1;
  GST_BUFFER_DURATION(buffer) = FRAME_TIME;
  add_regions(soak, frame, buffer);
  return buffer;
}

static gboolean
in_region(GstBuffer *buffer, guint x, guint y)
{
  gpointer state = NULL;
  gboolean inside = FALSE;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *roi = (const GstVideoRegionOfInterestMeta *)meta;

    inside |= x >= roi->x && x - roi->x < roi->w && y >= roi->y && y - roi->y < roi->h;
  }
  return inside;
}

static int
count_regions(GstBuffer *buffer)
{
  return (int)gst_buffer_get_n_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* Returns TRUE if the first channel of a pixel equals the input's pixel or, with shifted, the pixel to its right. */
static gboolean
is_right(const GstVideoInfo *info, const guint8 *in, const guint8 *out, int x, gboolean shifted)
{
  int step = GST_VIDEO_INFO_COMP_PSTRIDE(info, 0), bits = GST_VIDEO_FORMAT_INFO_SHIFT(info->finfo, 0);
  const guint8 *a = in + (shifted ? (x + 1) % info->width : x) * step, *b = out + x * step;

  if (GST_VIDEO_INFO_COMP_DEPTH(info, 0) <= 8)
    return *a == *b;
  bits = shifted ? bits : 0; /* copied samples keep the bits that carry no value */
  return GST_READ_UINT16_LE(a) >> bits << bits == GST_READ_UINT16_LE(b);
}

/* Fails unless the output is shifted by one pixel. regions: only regions are shifted. */
static void
check_shifted(const Soak *soak, GstBuffer *in, GstBuffer *out, guint number, gboolean regions)
{
  GstVideoFrame from, to;

  REQUIRE(gst_video_frame_map(&from, &soak->info, in, GST_MAP_READ), "frame %u cannot be mapped", number);
  REQUIRE(gst_video_frame_map(&to, &soak->info, out, GST_MAP_READ), "output frame %u cannot be mapped", number);
  for (int y = 0; y < soak->info.height; y++) {
    const guint8 *a = (guint8 *)GST_VIDEO_FRAME_COMP_DATA(&from, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&from, 0);
    const guint8 *b = (guint8 *)GST_VIDEO_FRAME_COMP_DATA(&to, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&to, 0);

    for (int x = 0; x < soak->info.width; x++)
      REQUIRE(is_right(&soak->info, a, b, x, !regions || in_region(in, x, y)), "%s: frame %u is wrong at %d, %d",
              soak->backend, number, x, y);
  }
  gst_video_frame_unmap(&from);
  gst_video_frame_unmap(&to);
}

static void
check_frame(const Soak *soak, GstBuffer *in, GstBuffer *out)
{
  guint frame = GST_BUFFER_PTS(in) / FRAME_TIME;

  REQUIRE(GST_BUFFER_PTS(out) == GST_BUFFER_PTS(in) && GST_BUFFER_DTS(out) == GST_BUFFER_DTS(in) &&
              GST_BUFFER_DURATION(out) == GST_BUFFER_DURATION(in),
          "%s: frame %u was lost, came out more than once or has other times than it came with", soak->backend, frame);
  REQUIRE(gst_buffer_get_size(out) == gst_buffer_get_size(in), "%s: frame %u has another size", soak->backend, frame);
  REQUIRE(count_regions(out) == count_regions(in), "%s: frame %u has other regions than it came with", soak->backend,
          frame);
  if (is_known(frame, KNOWN_FRAME) || is_known(frame, REGIONS_FRAME))
    check_shifted(soak, in, out, frame, is_known(frame, REGIONS_FRAME));
}

/* Pulls the frames that came out. least, at_most: how many frames must and may still wait. */
static void
pull_frames(Soak *soak, int frame, guint least, guint at_most)
{
  GstBuffer *in, *out;

  while (gst_harness_buffers_in_queue(soak->harness) > 0) {
    in = g_queue_pop_head(&soak->waiting);
    out = gst_harness_pull(soak->harness);
    REQUIRE(in != NULL, "%s: at frame %d one came out that nothing came in for", soak->backend, frame);
    check_frame(soak, in, out);
    gst_buffer_unref(out);
    gst_buffer_unref(in);
  }
  REQUIRE(soak->waiting.length >= least && soak->waiting.length <= at_most,
          "%s: at frame %d %u frames wait, and not %u to %u", soak->backend, frame, soak->waiting.length, least,
          at_most);
}

/* Returns TRUE for the last frame with the same settings. Frames that waited for the old settings are out, and errors
 * were reported. */
static gboolean
is_settled(int frame)
{
  return frame % SETTINGS_FRAMES == SETTINGS_FRAMES - 1;
}

static void
push_frame(Soak *soak, int frame)
{
  GstBuffer *in = make_frame(soak, frame);
  GstFlowReturn flow;

  g_queue_push_tail(&soak->waiting, gst_buffer_ref(in));
  flow = gst_harness_push(soak->harness, in);
  REQUIRE(flow == GST_FLOW_OK, "%s: frame %d: %s", soak->backend, frame, gst_flow_get_name(flow));
  if (is_settled(frame) || is_known(frame, KNOWN_FRAME) || is_known(frame, REGIONS_FRAME))
    pull_frames(soak, frame, soak->ahead, soak->ahead);
  else
    pull_frames(soak, frame, 0, MAX_AHEAD);
}

/* Returns TRUE if the message is a rejection, and not about a setting without effect. */
static gboolean
is_refusal(GstMessage *message)
{
  g_autofree char *debug = NULL;

  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_WARNING)
    return FALSE;
  gst_message_parse_warning(message, NULL, &debug);
  return !strstr(debug, "checking the settings");
}

/* Reads all messages and events. If they stayed, memory would grow. */
static void
read_messages(Soak *soak, int frame)
{
  GstMessage *message;
  GstEvent *event;

  while ((message = gst_bus_pop(soak->bus))) {
    REQUIRE(GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR, "%s: an error at frame %d", soak->backend, frame);
    soak->warnings += is_refusal(message);
    gst_message_unref(message);
  }
  REQUIRE(!is_settled(frame) || soak->warnings == soak->refused,
          "%s: up to frame %d %d settings were refused, and not %d", soak->backend, frame, soak->warnings,
          soak->refused);
  while ((event = gst_harness_try_pull_event(soak->harness)))
    gst_event_unref(event);
  while ((event = gst_harness_try_pull_upstream_event(soak->harness)))
    gst_event_unref(event);
}

/* Returns the bytes of that kind that were in use at the measurement in a cycle. */
static gint64
used(const Soak *soak, MemoryKind kind, int cycle)
{
  return g_array_index(soak->samples, Memory, cycle).bytes[kind];
}

static gint64
growth_in(const Soak *soak, MemoryKind kind, int cycle)
{
  return used(soak, kind, cycle) - used(soak, kind, cycle - 1);
}

static gboolean
looks_at_memory(void)
{
  return !no_memory && memory_can_be_told();
}

static void
check_memory(const Soak *soak, int frame)
{
  const int cycle = soak->samples->len - 1;

  if (!looks_at_memory() || cycle < WARM_UP_CYCLES)
    return;
  for (int kind = 0; kind < N_MEMORIES; kind++) {
    const gint64 grown = used(soak, kind, cycle) - used(soak, kind, WARM_UP_CYCLES - 1);

    ck_assert_msg(grown <= memories[kind].tolerance, "%s: %s grew by %" G_GINT64_FORMAT " bytes up to frame %d",
                  soak->backend, memories[kind].name, grown, frame);
  }
}

/* Measures memory once per cycle, while the settings are known. Some ten measurements are printed. */
static void
look_at_memory(Soak *soak, int frame)
{
  const Memory now = memory_now(soak->backend);
  int cycle = frame / CYCLE_FRAMES, cycles = n_frames / CYCLE_FRAMES;

  g_array_append_val(soak->samples, now);
  if (cycle % ((cycles + 9) / 10) == 0 || cycle == cycles - 1)
    g_print("%s: frame %6d, %5.1f s: resident %8.1f KiB, heap %8.1f KiB, GPU %+.1f KiB, %d settings refused\n",
            soak->backend, frame, (g_get_monotonic_time() - soak->start) / 1e6, now.bytes[RESIDENT] / 1024.0,
            now.bytes[HEAP] / 1024.0, (now.bytes[DEVICE] - used(soak, DEVICE, 0)) / 1024.0, soak->warnings);
  check_memory(soak, frame);
}

static void
print_growth(const Soak *soak, MemoryKind kind)
{
  for (guint cycle = 1; cycle < soak->samples->len; cycle++)
    g_print("%s%+.1f", cycle == WARM_UP_CYCLES ? " | " : " ", growth_in(soak, kind, cycle) / 1024.0);
}

/* Returns the least that was used in n cycles, beginning with cycle first. */
static gint64
least_used(const Soak *soak, MemoryKind kind, int first, int n)
{
  gint64 least = G_MAXINT64;

  for (int i = first; i < first + n; i++)
    least = MIN(least, used(soak, kind, i));
  return least;
}

/* Returns the growth of memory per cycle after the warm-up. With few cycles it is the least growth. With many it is the
 * growth from the middle third to the last, between the least that each used, because frames are held only at some
 * times. */
static gint64
steady_growth(const Soak *soak, MemoryKind kind)
{
  const int cycles = soak->samples->len, n = cycles - WARM_UP_CYCLES, third = n / 3;
  gint64 least = G_MAXINT64;

  if (n >= MANY_CYCLES)
    return (least_used(soak, kind, cycles - third, third) - least_used(soak, kind, cycles - 2 * third, third)) / third;
  for (int i = WARM_UP_CYCLES; i < cycles; i++)
    least = MIN(least, growth_in(soak, kind, i));
  return least;
}

/* Prints the growth, with the cycles of the warm-up before the bar, and fails if it is too large. */
static void
check_growth(const Soak *soak)
{
  g_print("%s: KiB that memory grew by in each cycle of %d frames: resident", soak->backend, CYCLE_FRAMES);
  print_growth(soak, RESIDENT);
  g_print("; heap");
  print_growth(soak, HEAP);
  g_print("; GPU");
  print_growth(soak, DEVICE);
  g_print("\n");
  for (int kind = 0; kind < N_MEMORIES && looks_at_memory(); kind++)
    ck_assert_msg(steady_growth(soak, kind) <= memories[kind].cycle_tolerance,
                  "%s: %s grew in cycle after cycle of %d frames, by %" G_GINT64_FORMAT " bytes or more", soak->backend,
                  memories[kind].name, CYCLE_FRAMES, steady_growth(soak, kind));
}

static void
check_count(const Soak *soak)
{
  GstStructure *stats;
  guint64 frames;

  g_object_get(soak->element, "stats", &stats, NULL);
  ck_assert(gst_structure_get_uint64(stats, "frames", &frames));
  ck_assert_uint_eq(frames, n_frames);
  ck_assert_str_eq(gst_structure_get_string(stats, "backend"), soak->backend);
  ck_assert_msg(soak->warnings > 0, "no settings were refused");
  gst_structure_free(stats);
}

/* Sets n_frames to whole cycles. The driver's own part of the heap settles slowly. On a GPU, where cycles take seconds,
 * there are enough of them to distinguish that from what is lost in most of them. */
static void
set_frames(const char *backend)
{
  int least = !looks_at_memory() ? 1 : strcmp(backend, "cuda") == 0 ? WARM_UP_CYCLES + MANY_CYCLES : CYCLES_LEAST;

  n_frames = MAX(least, (n_frames + CYCLE_FRAMES - 1) / CYCLE_FRAMES) * CYCLE_FRAMES;
}

START_TEST(test_soak)
{
  Soak soak;

  set_frames(backends[_i]);

  soak_init(&soak, backends[_i]);
  for (int frame = 0; frame < n_frames; frame++) {
    if (frame % (DRAWN_CYCLES * CYCLE_FRAMES) == 0)
      g_rand_set_seed(soak.rng, seed);
    if (frame % CAPS_FRAMES == 0) {
      next_caps(&soak, frame);
      pull_frames(&soak, frame, 0, 0);
    }
    if (frame % SETTINGS_FRAMES == 0)
      next_settings(&soak, frame);
    push_frame(&soak, frame);
    read_messages(&soak, frame);
    if (frame % CYCLE_FRAMES == KNOWN_FRAME + SETTINGS_FRAMES - 1)
      look_at_memory(&soak, frame);
  }
  ck_assert(gst_harness_push_event(soak.harness, gst_event_new_eos()));
  pull_frames(&soak, n_frames, 0, 0);
  check_growth(&soak);
  check_count(&soak);
  soak_clear(&soak);
}
END_TEST

static void
parse_options(int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
      {"frames", 0, 0, G_OPTION_ARG_INT, &n_frames,
       "Frames on each backend, rounded up to whole cycles of 3000, on a GPU to 18 of them at least", "N"},
      {"no-memory", 0, 0, G_OPTION_ARG_NONE, &no_memory, "Not to look at memory, for which one cycle is enough", NULL},
      {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "Draw the settings of an earlier run", "N"},
      {NULL},
  };
  GOptionContext *context = g_option_context_new(NULL);
  GError *error = NULL;

  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, argc, argv, &error))
    g_error("%s", error->message);
  g_option_context_free(context);
  if (seed < 0)
    seed = g_random_int_range(0, G_MAXINT);
}

static Suite *
soak_suite(void)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  Suite *suite = suite_create("soak");
  TCase *tcase = tcase_create("each backend");

  if (cuda && cuda->probe(-1, NULL))
    backends[n_backends++] = "cuda";
  else
    g_print("SKIPPED on a GPU: there is none, or this build has no CUDA; the same runs on the CPU\n");
  if (!memory_can_be_told())
    g_print("SKIPPED memory: AddressSanitizer holds back what is freed; leaks are found all the same\n");
  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, test_soak, 0, n_backends);
  return suite;
}

int
main(int argc, char **argv)
{
  /* Loads all kernels at once. Otherwise the driver's part of the heap grows with each kernel that is used for the
   * first time. */
  g_setenv("CUDA_MODULE_LOADING", "EAGER", FALSE);
  parse_options(&argc, &argv);
  gst_check_init(&argc, &argv);
  g_print("--seed %d\n", seed);
  return test_suite_run_in_process(soak_suite());
}
