/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA engine's schedule, without a GPU: which kernels a frame's jobs go to. The stand-in driver (support/standin)
 * checks how jobs are cut into tiles. Plans are made for the CPU, and their planes then get an algorithm of the GPU.
 */
#include "plan/plan.h"

#include "gpu/choice.h"
#include "gpu/scheduler.h"
#include "gpu/tile_jobs.h"
#include "support/masks.h"
#include "support/plan.h"
#include "support/suite.h"

#define WIDTH 200
#define HEIGHT 121

typedef struct {
  CnvFilterType type;
  int radius;
  int width, height; /* custom: taps of full rank, of both signs if `step` is negative */
  double step;
  int temporal_radius;
} Taps;

static CnvPlan *
plan_of_image(const Taps *t, const CnvImage *image, CnvBorder border, CnvAlgorithm algorithm)
{
  double taps[49];
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = t->type;
  filter.radius = t->radius;
  filter.temporal_radius = t->temporal_radius;
  filter.border = border;
  for (int i = 0; i < t->width * t->height; i++)
    taps[i] = 1 + t->step * (i * i % 7) + 0.01 * i;
  if (t->width)
    filter.kernel = cnv_taps_new(t->width, t->height, taps);
  plan = cnv_plan_new(&filter, image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
  ck_assert(plan != NULL);
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered)
      plan->plane[p].algorithm = algorithm;
  cnv_filter_clear(&filter);
  return plan;
}

static CnvPlan *
plan_of(const Taps *t, const char *format, CnvBorder border, CnvAlgorithm algorithm)
{
  const CnvImage image = {cnv_format_find(format), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};

  return plan_of_image(t, &image, border, algorithm);
}

static guint
count_launches(const CnvSchedule *schedule, CnvKernelId kernel)
{
  guint n = 0;

  for (guint i = 0; i < schedule->launches->len; i++)
    n += g_array_index(schedule->launches, CnvLaunch, i).kernel == kernel;
  return n;
}

/* Returns the number of jobs of a kernel. */
static guint
count_jobs(const CnvSchedule *schedule, CnvKernelId kernel)
{
  guint n = 0;

  for (guint i = 0; i < schedule->launches->len; i++) {
    const CnvLaunch *l = &g_array_index(schedule->launches, CnvLaunch, i);

    n += l->kernel == kernel ? l->n : 0;
  }
  return n;
}

static void
set_work(CnvSchedule *schedule, const CnvWork *work)
{
  static const CnvKernelId last[] = {CNV_KERNEL_NAIVE,   CNV_KERNEL_MOSAIC,      CNV_KERNEL_CELLS,   CNV_KERNEL_TILED,
                                     CNV_KERNEL_COLUMNS, CNV_KERNEL_FUSED,       CNV_KERNEL_ONE_TAP, CNV_KERNEL_BLUR,
                                     CNV_KERNEL_DENSE,   CNV_KERNEL_INTERPOLATE, CNV_KERNEL_AVERAGE};
  guint done = 0;

  cnv_schedule_init(schedule);
  schedule->n_processors = 16;
  ck_assert(cnv_schedule_set_work(schedule, work, FALSE));
  for (guint i = 0; i < G_N_ELEMENTS(last); i++)
    done += count_jobs(schedule, last[i]);
  ck_assert_uint_eq(done, schedule->work.jobs->len);
}

static const Taps blur = {CNV_FILTER_GAUSSIAN, 3}, wide = {CNV_FILTER_GAUSSIAN, 12}, wider = {CNV_FILTER_GAUSSIAN, 20},
                  narrow = {CNV_FILTER_GAUSSIAN, 8}, widest = {CNV_FILTER_GAUSSIAN, 44},
                  farthest = {CNV_FILTER_GAUSSIAN, 49}, full_rank = {CNV_FILTER_CUSTOM, -1, 5, 5, 0.3},
                  sharpen = {CNV_FILTER_SHARPEN, 1}, unsharp = {CNV_FILTER_UNSHARP, 12},
                  row = {CNV_FILTER_CUSTOM, -1, 49, 1, 0.1}, signed_row = {CNV_FILTER_CUSTOM, -1, 3, 1, -0.9},
                  cells = {CNV_FILTER_MOSAIC, 8}, large_cells = {CNV_FILTER_MOSAIC, 512},
                  cells_of_3_frames = {CNV_FILTER_MOSAIC, 8, .temporal_radius = 1}, gradient = {CNV_FILTER_SOBEL, 1},
                  one_tap = {CNV_FILTER_CUSTOM, -1, 1, 1, 0.5},
                  of_3_frames = {CNV_FILTER_GAUSSIAN, 2, .temporal_radius = 1},
                  of_5_frames = {CNV_FILTER_GAUSSIAN, 2, .temporal_radius = 2};

/* All planes of a frame share one launch, of the kernel that suits their taps. */
START_TEST(test_whole_frames)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm algorithm;
    CnvKernelId kernel;
    const char *name;
  } rows[] = {
      {&blur, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "blur_u8_2x2"},
      {&wide, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "blur_u8_3x3"},
      {&row, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "blur_u8_5x2"},
      {&wider, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "blur_u8_5x5"},
      {&widest, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "ring_u8_9"},
      {&signed_row, CNV_ALGORITHM_TENSOR, CNV_KERNEL_DENSE, "dense_u8_1_1_2_4"},
      {&blur, CNV_ALGORITHM_FUSED, CNV_KERNEL_FUSED, "fused_u8"},
      {&wide, CNV_ALGORITHM_FUSED, CNV_KERNEL_FUSED, "fused_u8"},
      {&signed_row, CNV_ALGORITHM_FUSED, CNV_KERNEL_FUSED, "fused_u8"},
      {&sharpen, CNV_ALGORITHM_TENSOR, CNV_KERNEL_DENSE, "dense_u8_1_1_1_4"},
      {&unsharp, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "blur_u8_3x3"},
      {&full_rank, CNV_ALGORITHM_TENSOR, CNV_KERNEL_DENSE, "dense_u8_1_1_2_6"},
      {&one_tap, CNV_ALGORITHM_TENSOR, CNV_KERNEL_ONE_TAP, "one_tap"},
      {&of_3_frames, CNV_ALGORITHM_TENSOR, CNV_KERNEL_BLUR, "blur_over_time_u8_2x2"},
      {&of_5_frames, CNV_ALGORITHM_TENSOR, CNV_KERNEL_DENSE, "dense_over_time_u8_5_3"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, "NV12", CNV_BORDER_REPLICATE, rows[i].algorithm);
    CnvSchedule schedule;

    set_work(&schedule, &CNV_WORK_ALL(&plan));
    ck_assert_uint_eq(schedule.launches->len, 1);
    ck_assert_uint_eq(count_jobs(&schedule, rows[i].kernel), 2);
    ck_assert_str_eq(schedule.variant[rows[i].kernel]->name, rows[i].name);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Averages with a threshold. For 8 bits the output's frame must have a good part of the taps in time: else averages are
 * staged. */
START_TEST(test_averages)
{
  static const struct {
    const char *format, *name;
    double center; /* tap on the output's frame, between two taps of 1 */
  } rows[] = {{"NV12", "average_u8", 1},
              {"RGBA", "average_u8", 0.07},
              {"RGBA", NULL, 0.06},
              {"P010_10LE", "average_u16", 1},
              {"P010_10LE", "average_u16", 0.001}};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const CnvImage image = {cnv_format_find(rows[i].format), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};
    CnvTemporalTap frames[3];
    CnvSchedule schedule;
    CnvFilter filter;
    CnvPlan *plan;
    CnvWork work;

    test_filter_init(&filter);
    filter.type = CNV_FILTER_IDENTITY;
    filter.kernel_t = cnv_taps_new(3, 1, (double[]){1, rows[i].center, 1});
    filter.temporal_threshold = 0.1;
    plan = cnv_plan_new(&filter, &image, CNV_ALGORITHM_AUTO, cnv_backend_find("cpu"), NULL);
    ck_assert(plan != NULL);
    for (int p = 0; p < plan->n_planes; p++)
      plan->plane[p].algorithm = CNV_ALGORITHM_TENSOR;
    for (int k = 0; k < 3; k++)
      frames[k] = (CnvTemporalTap){k, plan->weight[k]};
    work = CNV_WORK_ALL(&plan);
    work.temporal_tap = frames;
    work.n_temporal_taps = 3;
    set_work(&schedule, &work);
    ck_assert_uint_eq(count_launches(&schedule, CNV_KERNEL_AVERAGE), rows[i].name ? 1 : 0);
    ck_assert_uint_eq(count_launches(&schedule, CNV_KERNEL_STAGE_IN), rows[i].name ? 0 : 1);
    if (rows[i].name)
      ck_assert_str_eq(schedule.variant[CNV_KERNEL_AVERAGE]->name, rows[i].name);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
    cnv_filter_clear(&filter);
  }
}
END_TEST

/* Words of four channels with copied alpha, and samples of more than 10 bits, have kernels of their own. Others are used
 * if levels are not plain or taps reach too far. */
START_TEST(test_pixels)
{
  static const struct {
    const Taps *taps;
    const char *format;
    CnvBorder border;
    const char *name;
  } rows[] = {
      {&blur, "RGBA", CNV_BORDER_REPLICATE, "blur_pixels_u8_2x2"},
      {&blur, "ARGB", CNV_BORDER_WRAP, "blur_pixels_u8_2x2"},
      {&wide, "RGBA", CNV_BORDER_REPLICATE, "blur_pixels_u8_3x3"},
      {&wide, "BGRx", CNV_BORDER_REFLECT, "blur_pixels_u8_3x3"},
      {&wider, "RGBA", CNV_BORDER_REPLICATE, "ring_u8_17"},
      {&unsharp, "RGBA", CNV_BORDER_REPLICATE, "blur_u8_7x3"},
      {&blur, "RGBA", CNV_BORDER_RENORMALIZE, "blur_u8_3x3"},
      {&wide, "RGBA", CNV_BORDER_RENORMALIZE, "blur_u8_7x3"},
      {&blur, "RGB", CNV_BORDER_REPLICATE, "blur_u8_3x3"},
      {&wide, "RGB", CNV_BORDER_REPLICATE, "blur_u8_7x3"},
      {&wider, "RGB", CNV_BORDER_REPLICATE, "ring_u8_9"},
      /* samples of more than 10 bits */
      {&blur, "GRAY16_LE", CNV_BORDER_REPLICATE, "blur_deep_u16_2x2"},
      {&wide, "GRAY16_LE", CNV_BORDER_CONSTANT, "blur_deep_u16_3x3"},
      {&wider, "GRAY16_LE", CNV_BORDER_WRAP, "blur_deep_u16_5x5"},
      {&blur, "P016_LE", CNV_BORDER_REPLICATE, "blur_deep_u16_2x2"},
      {&wide, "I420_12LE", CNV_BORDER_REPLICATE, "blur_deep_u16_3x3"},
      {&blur, "ARGB64", CNV_BORDER_REPLICATE, "blur_deep_pixels_u16_2x2"},
      {&wide, "RGBA64_LE", CNV_BORDER_REFLECT, "blur_deep_pixels_u16_3x3"},
      {&narrow, "ARGB64", CNV_BORDER_WRAP, "blur_deep_pixels_u16_2x2"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, rows[i].format, rows[i].border, CNV_ALGORITHM_TENSOR);
    CnvSchedule schedule;

    set_work(&schedule, &CNV_WORK_ALL(&plan));
    ck_assert_str_eq(schedule.variant[CNV_KERNEL_BLUR]->name, rows[i].name);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Wide gaussians use decimated samples if that is faster. Planes share the launches. */
START_TEST(test_decimated)
{
  static const struct {
    const char *format;
    int radius;
    guint launches; /* 0: blur does it */
    const char *name;
  } rows[] = {
      {"NV12", 32, 0, "blur_u8_5x5"},
      {"NV12", 44, 2, "interpolate_u8"},
      {"RGBA", 128, 3, "interpolate_pixels_u8"},
      {"RGBA", 20, 0, "ring_u8_17"},
      {"RGBA", 32, 2, "interpolate_pixels_u8"},
      {"RGB", 48, 2, "interpolate_pixels_u8"},
      {"P010_10LE", 32, 0, "blur_split_u16_5x5"},
      {"P010_10LE", 128, 2, "interpolate_u16"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const Taps taps = {CNV_FILTER_GAUSSIAN, rows[i].radius};
    CnvKernelId kernel = rows[i].launches ? CNV_KERNEL_INTERPOLATE : CNV_KERNEL_BLUR;
    const CnvImage image = {cnv_format_find(rows[i].format), 1920, 1080, 0.2126, 0.0722, FALSE};
    CnvPlan *plan = plan_of_image(&taps, &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    CnvSchedule schedule;

    set_work(&schedule, &CNV_WORK_ALL(&plan));
    ck_assert_uint_eq(count_jobs(&schedule, kernel), plan->n_planes);
    ck_assert_uint_eq(schedule.launches->len, MAX(rows[i].launches, 1));
    ck_assert_str_eq(schedule.variant[kernel]->name, rows[i].name);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Returns the blocks of a launch of interpolate that fit a multiprocessor. A block has 2 KiB of shared memory besides
 * what the launch requests: half of it reserved by the GPU. */
static guint
count_fitting(const CnvSchedule *schedule, const CnvLaunch *launch)
{
  return MIN(schedule->processor_shared / (launch->shared_bytes + 2048),
             (guint)schedule->variant[launch->kernel]->blocks);
}

/* Tiles of decimated samples have 128 rows in large frames. A plane has 64 if the blocks of 128 need so much shared
 * memory that fewer fit a multiprocessor, and if blocks of 64 take no more waves. */
START_TEST(test_decimated_rows)
{
  static const struct {
    const char *format;
    int width, height, radius;
    guint n_processors, shared; /* shared: KiB per multiprocessor */
    int rows[3];                /* of a tile, by plane */
    guint fitting;
  } rows[] = {
      {"NV12", 3840, 2160, 48, 132, 228, {128, 64}, 6},
      {"NV12", 3840, 2160, 64, 132, 228, {128, 128}, 6},
      {"NV12", 1920, 1080, 48, 132, 228, {64, 64}, 6},      /* few blocks */
      {"NV12", 7680, 4320, 48, 132, 228, {128, 128}, 5},    /* 5 waves; 64 rows would take 6 */
      {"P010_10LE", 3840, 2160, 80, 132, 228, {64, 64}, 2}, /* 128 rows need more memory than a block can have */
      {"P010_10LE", 3840, 2160, 128, 132, 228, {128, 64}, 3},
      {"I420", 3840, 2160, 48, 108, 164, {128, 64, 64}, 6},
      {"NV12", 3840, 2160, 48, 108, 164, {128, 64}, 5}, /* luma of 64 rows would not change the 5 */
      {"RGBA", 3840, 2160, 64, 128, 100, {64}, 2},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const Taps taps = {CNV_FILTER_GAUSSIAN, rows[i].radius};
    const CnvImage image = {cnv_format_find(rows[i].format), rows[i].width, rows[i].height, 0.2126, 0.0722, FALSE};
    CnvPlan *plan = plan_of_image(&taps, &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    CnvWork work = CNV_WORK_ALL(&plan);
    const CnvLaunch *launch;
    CnvSchedule schedule;

    cnv_schedule_init(&schedule);
    schedule.n_processors = rows[i].n_processors;
    schedule.processor_shared = rows[i].shared * 1024;
    cnv_schedule_set_work(&schedule, &work, FALSE);
    launch = &g_array_index(schedule.launches, CnvLaunch, schedule.launches->len - 1);
    ck_assert_int_eq(launch->kernel, CNV_KERNEL_INTERPOLATE);
    for (guint k = launch->first; k < launch->first + launch->n; k++) {
      const CnvTileJob *job = &g_array_index(schedule.tile_jobs, CnvTileJob, k);

      ck_assert_msg(job->rows == rows[i].rows[job->pointers], "row %u, plane %d: %d rows", i, job->pointers, job->rows);
    }
    ck_assert_msg(count_fitting(&schedule, launch) == rows[i].fitting, "row %u: %u blocks fit", i,
                  count_fitting(&schedule, launch));
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* All jobs of a plane have the same rows, because they share a map for their results, even if only one plan needs more
 * shared memory. */
START_TEST(test_decimated_rows_of_plans)
{
  static const Taps taps[] = {{CNV_FILTER_GAUSSIAN, 48}, {CNV_FILTER_GAUSSIAN, 64}};
  static const CnvRegion regions[] = {{{0, 0, 1920, 2160}, 0}, {{1920, 0, 1920, 2160}, 1, CNV_SHAPE_ELLIPSE}};
  const CnvImage image = {cnv_format_find("NV12"), 3840, 2160, 0.2126, 0.0722, FALSE};
  guint n_of_plan[2] = {0};
  CnvPlan *plans[2];
  const CnvWork work = {.plan = plans, .n_plans = 2, .region = regions, .n_regions = 2};
  CnvSchedule schedule;

  for (int i = 0; i < 2; i++)
    plans[i] = plan_of_image(&taps[i], &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
  cnv_schedule_init(&schedule);
  schedule.n_processors = 132;
  schedule.processor_shared = 228 * 1024;
  cnv_schedule_set_work(&schedule, &work, FALSE);
  for (guint i = 0; i < schedule.launches->len; i++) {
    const CnvLaunch *launch = &g_array_index(schedule.launches, CnvLaunch, i);

    for (guint k = launch->first; launch->kernel == CNV_KERNEL_INTERPOLATE && k < launch->first + launch->n; k++) {
      const CnvTileJob *job = &g_array_index(schedule.tile_jobs, CnvTileJob, k);

      ck_assert_int_eq(job->rows, job->pointers == 0 ? 128 : 64);
      n_of_plan[job->job.plan] += job->pointers == 1;
    }
  }
  ck_assert(n_of_plan[0] > 0 && n_of_plan[1] > 0);
  cnv_schedule_clear(&schedule);
  for (int i = 0; i < 2; i++)
    cnv_plan_unref(plans[i]);
}
END_TEST

/* Kinds of work for which wide gaussians are decimated, and kinds for which they are not. */
START_TEST(test_decimated_parts)
{
  static const CnvRegion shapes[] = {{{13, 10, 300, 250}, 0, CNV_SHAPE_ELLIPSE}, {{13, 10, 300, 250}, 0}};
  static const Taps taps = {CNV_FILTER_GAUSSIAN, 44}, over_time = {CNV_FILTER_GAUSSIAN, 44, .temporal_radius = 1};
  static const struct {
    int shape; /* index; -1: the whole frame */
    gboolean isolated, interlaced, over_time, weighed, in_place, decimated, whole;
  } rows[] = {
      {-1, .decimated = TRUE},
      {1, .decimated = TRUE, .whole = TRUE},
      {0, .decimated = TRUE, .whole = TRUE},
      {0, .in_place = TRUE, .decimated = TRUE},
      {1, .isolated = TRUE},
      {0, .isolated = TRUE, .weighed = TRUE},
      {-1, .interlaced = TRUE},
      {-1, .isolated = TRUE, .decimated = TRUE},
      {-1, .over_time = TRUE},
      {1, .decimated = TRUE, .whole = TRUE},
  };
  const CnvImage image = {cnv_format_find("GRAY8"), 400, 301, 0.2126, 0.0722, FALSE};
  CnvSchedule schedule;

  cnv_schedule_init(&schedule);
  schedule.n_processors = 4;
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan =
        plan_of_image(rows[i].over_time ? &over_time : &taps, &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    CnvPlan *weighed = cnv_plan_weighed(plan, NULL), *const *used = rows[i].weighed ? &weighed : &plan;
    CnvTemporalTap frames[3] = {{0, 0.25f}, {0, 0.5f}, {0, 0.25f}};
    CnvWork work = CNV_WORK_ALL(used);
    const CnvTileJob *job;

    weighed->plane[0].algorithm = CNV_ALGORITHM_TENSOR;
    work.whole_frame = rows[i].shape < 0;
    work.region = &shapes[MAX(rows[i].shape, 0)];
    work.n_regions = 1;
    work.isolated = rows[i].isolated;
    work.interlaced = rows[i].interlaced;
    work.temporal_tap = frames;
    work.n_temporal_taps = rows[i].over_time ? 3 : 0;
    cnv_schedule_set_work(&schedule, &work, rows[i].in_place);
    ck_assert_msg(!count_launches(&schedule, CNV_KERNEL_INTERPOLATE) == !rows[i].decimated &&
                      !count_launches(&schedule, CNV_KERNEL_DECIMATE) == !rows[i].decimated,
                  "row %u", i);
    ck_assert_msg(!schedule.at_once && !schedule.decimated_size == !rows[i].decimated, "row %u", i);
    job = &g_array_index(schedule.tile_jobs, CnvTileJob, 0);
    ck_assert_msg(!rows[i].decimated || !job->job.whole == !rows[i].whole, "row %u", i);
    cnv_plan_unref(plan);
  }
  cnv_schedule_clear(&schedule);
}
END_TEST

/* The kernel of a plan is chosen again if the work becomes isolated or no longer is. */
START_TEST(test_decimated_again)
{
  static const CnvRegion region = {{13, 10, 300, 250}, 0};
  static const Taps taps = {CNV_FILTER_GAUSSIAN, 44};
  const CnvImage image = {cnv_format_find("GRAY8"), 400, 301, 0.2126, 0.0722, FALSE};
  CnvPlan *plan = plan_of_image(&taps, &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
  CnvWork work = CNV_WORK_ALL(&plan);
  CnvSchedule schedule;

  work.whole_frame = FALSE;
  work.region = &region;
  work.n_regions = 1;
  cnv_schedule_init(&schedule);
  schedule.n_processors = 4;
  for (int i = 0; i < 4; i++) {
    work.isolated = i == 1 || i == 2;
    ck_assert(cnv_schedule_set_work(&schedule, &work, FALSE) == (i != 2));
    ck_assert_int_eq(count_launches(&schedule, CNV_KERNEL_INTERPOLATE), work.isolated ? 0 : 1);
    ck_assert_str_eq(cnv_schedule_method(&schedule, &g_array_index(schedule.work.jobs, CnvJob, 0)),
                     work.isolated ? "blur" : "decimated");
  }
  cnv_schedule_clear(&schedule);
  cnv_plan_unref(plan);
}
END_TEST

/* A magnitude has two sums. Chroma becomes neutral, needs no taps, and shares the launch. */
START_TEST(test_gradient)
{
  CnvPlan *plan = plan_of(&gradient, "NV12", CNV_BORDER_CONSTANT, CNV_ALGORITHM_TENSOR);
  CnvSchedule schedule;

  set_work(&schedule, &CNV_WORK_ALL(&plan));
  ck_assert_uint_eq(schedule.launches->len, 1);
  ck_assert_uint_eq(count_jobs(&schedule, CNV_KERNEL_DENSE), 2);
  ck_assert_str_eq(schedule.variant[CNV_KERNEL_DENSE]->name, "dense_u8_1_2_1_4");
  cnv_schedule_clear(&schedule);
  cnv_plan_unref(plan);
}
END_TEST

/* Cells of plain samples have a kernel of their own. If they are too large for a block, an earlier launch adds them up.
 * Staged planes, several frames and rows too long for a block go to the kernel mosaic. */
START_TEST(test_cells)
{
  static const struct {
    const Taps *taps;
    const char *format;
    int width, height;
    guint sums, cells, mosaic; /* jobs */
  } rows[] = {
      {&cells, "NV12", WIDTH, HEIGHT, 0, 2, 0},
      {&cells, "RGB", WIDTH, HEIGHT, 0, 1, 0},
      {&cells, "P010_10LE", WIDTH, HEIGHT, 0, 2, 0},
      {&large_cells, "GRAY8", WIDTH, HEIGHT, 0, 1, 0},
      {&large_cells, "GRAY8", 1500, 900, 1, 1, 0},
      {&large_cells, "NV12", 1500, 900, 2, 2, 0},
      {&large_cells, "ARGB64", 1500, 900, 0, 0, 1},
      {&cells, "YUY2", WIDTH, HEIGHT, 0, 0, 2},
      {&cells_of_3_frames, "GRAY8", WIDTH, HEIGHT, 0, 0, 1},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const CnvImage image = {cnv_format_find(rows[i].format), rows[i].width, rows[i].height, 0.2126, 0.0722, FALSE};
    CnvPlan *plan = plan_of_image(rows[i].taps, &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_MOSAIC);
    CnvTemporalTap frames[3] = {{0, 0.25f}, {0, 0.5f}, {0, 0.25f}};
    CnvWork work = CNV_WORK_ALL(&plan);
    CnvSchedule schedule;

    if (rows[i].taps->temporal_radius > 0) {
      work.temporal_tap = frames;
      work.n_temporal_taps = 3;
    }
    set_work(&schedule, &work);
    ck_assert_uint_eq(count_jobs(&schedule, CNV_KERNEL_CELL_SUMS), rows[i].sums);
    ck_assert_uint_eq(count_jobs(&schedule, CNV_KERNEL_CELLS), rows[i].cells);
    ck_assert_uint_eq(count_jobs(&schedule, CNV_KERNEL_MOSAIC), rows[i].mosaic);
    ck_assert_uint_eq(schedule.sums_size > 0, rows[i].sums > 0);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Even small frames have blocks for half of the multiprocessors, and all blocks of any frame fit the GPU at once. */
START_TEST(test_cells_share)
{
  static const struct {
    int radius, width, height;
    const char *format;
  } rows[] = {
      {1, 200, 120, "GRAY8"}, {1, 320, 180, "NV12"},  {8, 320, 180, "GRAY8"}, {8, 320, 180, "NV12"},
      {8, 640, 360, "NV12"},  {30, 800, 600, "NV12"}, {1, 640, 360, "RGBA"},  {100, 1600, 900, "GRAY8"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const CnvImage image = {cnv_format_find(rows[i].format), rows[i].width, rows[i].height, 0.2126, 0.0722, FALSE};
    const Taps taps = {.type = cells.type, .radius = rows[i].radius};
    CnvPlan *plan = plan_of_image(&taps, &image, CNV_BORDER_REPLICATE, CNV_ALGORITHM_MOSAIC);
    CnvWork work = CNV_WORK_ALL(&plan);
    CnvSchedule schedule;
    const CnvLaunch *last;

    set_work(&schedule, &work);
    last = &g_array_index(schedule.launches, CnvLaunch, schedule.launches->len - 1);
    ck_assert_int_eq(last->kernel, CNV_KERNEL_CELLS);
    if (2 * last->blocks_x < schedule.n_processors || last->blocks_x > CNV_CELLS_BLOCKS * schedule.n_processors)
      ck_abort_msg("%s %dx%d, radius %d: %u blocks for %u multiprocessors", rows[i].format, rows[i].width,
                   rows[i].height, rows[i].radius, last->blocks_x, schedule.n_processors);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

static const CnvRegion two_regions[] = {{{13, 10, 60, 50}, 0}, {{90, 40, 70, 61}, 1}};

/* Jobs with coverage are tile jobs, too, unless they reach beyond the window that they may read. */
START_TEST(test_regions)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm algorithm;
    double feather;
    gboolean isolated;
    CnvKernelId kernel;
  } rows[] = {
      {&blur, CNV_ALGORITHM_TENSOR, 0, FALSE, CNV_KERNEL_BLUR},
      {&blur, CNV_ALGORITHM_TENSOR, 0, TRUE, CNV_KERNEL_BLUR},
      {&blur, CNV_ALGORITHM_TENSOR, 5, FALSE, CNV_KERNEL_BLUR},
      {&blur, CNV_ALGORITHM_TENSOR, 5, TRUE, CNV_KERNEL_COLUMNS},
      {&blur, CNV_ALGORITHM_FUSED, 0, TRUE, CNV_KERNEL_FUSED},
      {&blur, CNV_ALGORITHM_FUSED, 5, FALSE, CNV_KERNEL_FUSED},
      {&full_rank, CNV_ALGORITHM_TENSOR, 0, TRUE, CNV_KERNEL_DENSE},
      {&full_rank, CNV_ALGORITHM_TENSOR, 5, FALSE, CNV_KERNEL_DENSE},
      {&full_rank, CNV_ALGORITHM_TENSOR, 5, TRUE, CNV_KERNEL_TILED},
      {&sharpen, CNV_ALGORITHM_TENSOR, 0, FALSE, CNV_KERNEL_DENSE},
      {&sharpen, CNV_ALGORITHM_TENSOR, 5, FALSE, CNV_KERNEL_DENSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, "GRAY8", CNV_BORDER_REFLECT, rows[i].algorithm);
    const CnvWork work = {.plan = &plan,
                          .n_plans = 1,
                          .region = two_regions,
                          .n_regions = 1,
                          .feather = rows[i].feather,
                          .isolated = rows[i].isolated};
    CnvSchedule schedule;

    set_work(&schedule, &work);
    ck_assert_msg(count_launches(&schedule, rows[i].kernel) > 0, "row %u", i);
    ck_assert_msg(count_jobs(&schedule, rows[i].kernel) == schedule.work.jobs->len, "row %u", i);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Returns the first job, with coverage added. */
static CnvJob
job_with_coverage(const CnvSchedule *schedule)
{
  CnvJob job = g_array_index(schedule->work.jobs, CnvJob, 0);

  job.coverage_pitch = (WIDTH + CNV_COVERAGE_ALIGNMENT - 1) / CNV_COVERAGE_ALIGNMENT * CNV_COVERAGE_ALIGNMENT;
  return job;
}

/* Kernels with tile jobs support coverage, but no moves. */
START_TEST(test_coverage)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm algorithm;
  } rows[] = {
      {&blur, CNV_ALGORITHM_TENSOR},        {&widest, CNV_ALGORITHM_TENSOR},    {&of_3_frames, CNV_ALGORITHM_TENSOR},
      {&of_5_frames, CNV_ALGORITHM_TENSOR}, {&full_rank, CNV_ALGORITHM_TENSOR}, {&one_tap, CNV_ALGORITHM_TENSOR},
      {&blur, CNV_ALGORITHM_FUSED},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, "GRAY8", CNV_BORDER_REPLICATE, rows[i].algorithm);
    CnvSchedule schedule;
    CnvJob job, other;

    set_work(&schedule, &CNV_WORK_ALL(&plan));
    job = job_with_coverage(&schedule);
    ck_assert_msg(cnv_tile_jobs_take(&schedule, &job), "row %u", i);
    other = job;
    other.move_y = 1;
    ck_assert_msg(!cnv_tile_jobs_take(&schedule, &other), "row %u", i);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Jobs that share samples with other jobs have no inner tiles, because the copy engine writes those as a whole. */
START_TEST(test_shared)
{
  CnvPlan *plan = plan_of(&blur, "GRAY8", CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);

  for (int shared = 0; shared < 2; shared++) {
    CnvSchedule schedule;
    const CnvTileJob *tiles;
    CnvLaunch launch;
    CnvJob job;

    set_work(&schedule, &CNV_WORK_ALL(&plan));
    job = job_with_coverage(&schedule);
    job.shared = shared;
    launch = (CnvLaunch){.kernel = CNV_KERNEL_BLUR, .first = schedule.tile_jobs->len, .n = 1};
    cnv_tile_jobs_add(&schedule, &job);
    cnv_tile_jobs_cut(&schedule, &launch);
    tiles = &g_array_index(schedule.tile_jobs, CnvTileJob, launch.first);
    ck_assert_int_eq(tiles->blends, 1);
    ck_assert_int_eq(tiles->inner_x0 < tiles->inner_x1 && tiles->inner_y0 < tiles->inner_y1, !shared);
    cnv_schedule_clear(&schedule);
  }
  cnv_plan_unref(plan);
}
END_TEST

/* The copy kernel finds the tile of every block of 8 rows, and leaves out the tiles that a job writes. */
START_TEST(test_kept_tiles)
{
  static const CnvRegion ellipse = {{13, 10, 60, 50}, 0, CNV_SHAPE_ELLIPSE};
  CnvPlan *plan = plan_of(&blur, "GRAY8", CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
  const CnvWork work = {.plan = &plan, .n_plans = 1, .region = &ellipse, .n_regions = 1};
  const CnvTileJob *job;
  const guint8 *kinds;
  CnvSchedule schedule;
  guint n_kept = 0;
  int width;

  set_work(&schedule, &work);
  job = &g_array_index(schedule.tile_jobs, CnvTileJob, 0);
  width = schedule.variant[CNV_KERNEL_BLUR]->width;
  ck_assert(job->job.whole && schedule.kept[0].kinds >= 0);
  kinds = schedule.tile_kinds->data + schedule.kept[0].kinds;
  for (int y = 0; y < HEIGHT; y += 8)
    for (int x = 0; x < WIDTH; x++) {
      int down = (int)((guint64)y * schedule.kept[0].tile_inverse[CNV_Y] >> 32);
      int across = (int)((guint64)x * schedule.kept[0].tile_inverse[CNV_X] >> 32);

      ck_assert_int_eq(down, y / job->rows);
      ck_assert_int_eq(across, x / width);
      n_kept += kinds[down * schedule.kept[0].columns + across] == CNV_TILE_KEPT;
    }
  ck_assert(n_kept > 0 && kinds[0] == CNV_TILE_BLENDED);
  cnv_schedule_clear(&schedule);
  cnv_plan_unref(plan);
}
END_TEST

/* In place, all blocks of a single launch of tiles run at once: all have read before one of them writes. */
START_TEST(test_at_once)
{
  static const CnvRegion ellipse = {{13, 10, 60, 50}, 0, CNV_SHAPE_ELLIPSE};
  static const struct {
    const Taps *taps;
    CnvAlgorithm algorithm;
    gboolean in_place, at_once;
  } rows[] = {
      {&blur, CNV_ALGORITHM_TENSOR, TRUE, TRUE},     {&full_rank, CNV_ALGORITHM_TENSOR, TRUE, TRUE},
      {&blur, CNV_ALGORITHM_TENSOR, FALSE, FALSE},   {&widest, CNV_ALGORITHM_TENSOR, TRUE, FALSE},
      {&one_tap, CNV_ALGORITHM_TENSOR, TRUE, FALSE}, {&blur, CNV_ALGORITHM_FUSED, TRUE, FALSE},
      {&blur, CNV_ALGORITHM_SEPARABLE, TRUE, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, "GRAY8", CNV_BORDER_REPLICATE, rows[i].algorithm);
    CnvWork work = CNV_WORK_ALL(&plan);
    CnvSchedule schedule;

    work.whole_frame = FALSE;
    work.region = &ellipse;
    work.n_regions = 1;
    cnv_schedule_init(&schedule);
    schedule.n_processors = 4;
    cnv_schedule_set_work(&schedule, &work, rows[i].in_place);
    ck_assert_msg(schedule.at_once == rows[i].at_once, "row %u", i);
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Isolated shapes in one layer have tile jobs, with coverage only where blended tiles read it. Others are staged. */
START_TEST(test_weighed_tiles)
{
  static const CnvRegion shapes[] = {{{13, 10, 60, 50}, 0, CNV_SHAPE_ELLIPSE},
                                     {{90, 20, 40, 40}, 0, CNV_SHAPE_ELLIPSE}};
  static const struct {
    const Taps *taps;
    const char *name;
    guint n_regions;
    gboolean invert, interlaced, tiled;
  } rows[] = {
      {&blur, "NV12", 1, FALSE, FALSE, TRUE},      {&wider, "NV12", 2, TRUE, FALSE, TRUE},
      {&blur, "RGBA", 1, FALSE, FALSE, TRUE},      {&blur, "NV12", 2, FALSE, FALSE, FALSE},
      {&blur, "NV12", 1, FALSE, TRUE, FALSE},      {&widest, "NV12", 1, FALSE, FALSE, TRUE},
      {&farthest, "NV12", 1, FALSE, FALSE, FALSE}, {&blur, "YUY2", 1, FALSE, FALSE, FALSE},
      {&sharpen, "GRAY8", 1, FALSE, FALSE, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, rows[i].name, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    CnvPlan *weighed = cnv_plan_weighed(plan, NULL);
    const CnvWork work = {.plan = &weighed,
                          .n_plans = 1,
                          .region = shapes,
                          .n_regions = rows[i].n_regions,
                          .isolated = TRUE,
                          .invert = rows[i].invert,
                          .interlaced = rows[i].interlaced};
    CnvSchedule schedule;

    for (int p = 0; p < weighed->n_planes; p++)
      if (weighed->plane[p].filtered)
        weighed->plane[p].algorithm = CNV_ALGORITHM_TENSOR;
    set_work(&schedule, &work);
    ck_assert_msg(!count_launches(&schedule, CNV_KERNEL_BLUR) == !rows[i].tiled &&
                      !count_launches(&schedule, CNV_KERNEL_STAGE_IN) != !rows[i].tiled,
                  "row %u: %u tiled, %u staged", i, count_launches(&schedule, CNV_KERNEL_BLUR),
                  count_launches(&schedule, CNV_KERNEL_STAGE_IN));
    ck_assert(schedule.cover_jobs->len > 0);
    if (rows[i].tiled)
      ck_assert(schedule.launches->len == 1 &&
                g_str_has_prefix(schedule.variant[CNV_KERNEL_BLUR]->name, "blur_weighed"));
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* Plans of one frame share a variant or use two kernels. If no variant suits both, one plan gets another algorithm. */
START_TEST(test_plans_together)
{
  static const struct {
    const Taps *taps[2];
    const char *format;
    CnvKernelId kernel[2];
  } rows[] = {
      {{&blur, &wide}, "RGBA", {CNV_KERNEL_BLUR, CNV_KERNEL_BLUR}},
      {{&signed_row, &wide}, "RGBA", {CNV_KERNEL_DENSE, CNV_KERNEL_BLUR}},
      {{&unsharp, &wide}, "GRAY8", {CNV_KERNEL_BLUR, CNV_KERNEL_BLUR}},
      {{&full_rank, &wide}, "GRAY8", {CNV_KERNEL_DENSE, CNV_KERNEL_BLUR}},
      {{&sharpen, &full_rank}, "GRAY8", {CNV_KERNEL_DENSE, CNV_KERNEL_DENSE}},
      {{&gradient, &full_rank}, "GRAY8", {CNV_KERNEL_DENSE, CNV_KERNEL_TILED}},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plans[2];
    const CnvWork work = {.plan = plans, .n_plans = 2, .region = two_regions, .n_regions = 2};
    CnvSchedule schedule;

    for (int p = 0; p < 2; p++)
      plans[p] = plan_of(rows[i].taps[p], rows[i].format, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    set_work(&schedule, &work);
    for (int p = 0; p < 2; p++)
      ck_assert_msg(count_launches(&schedule, rows[i].kernel[p]) > 0, "row %u, plan %d", i, p);
    cnv_schedule_clear(&schedule);
    for (int p = 0; p < 2; p++)
      cnv_plan_unref(plans[p]);
  }
}
END_TEST

/* A frame with the same work needs no new schedule, even if there are no regions and so no launches. */
START_TEST(test_work_again)
{
  for (guint n = 0; n <= 2; n++) {
    CnvPlan *plan = plan_of(&blur, "NV12", CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
    const CnvWork work = {
        .plan = &plan, .n_plans = 1, .whole_frame = n == 2, .region = two_regions, .n_regions = n % 2};
    CnvSchedule schedule;

    set_work(&schedule, &work);
    ck_assert(!cnv_schedule_set_work(&schedule, &work, FALSE));
    ck_assert(cnv_schedule_set_work(&schedule, &work, TRUE));
    g_ptr_array_set_size(schedule.plans, 0);
    ck_assert(cnv_schedule_set_work(&schedule, &work, TRUE));
    cnv_schedule_clear(&schedule);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* A mask is uploaded once, even if other regions move. A new mask with the same cells is uploaded again. */
START_TEST(test_masks)
{
  CnvPlan *plan = plan_of(&blur, "NV12", CNV_BORDER_REPLICATE, CNV_ALGORITHM_TENSOR);
  CnvMask *mask[] = {test_mask_new(), test_mask_new()};
  CnvRegion region[] = {{{9, 9, 30, 20}, 0, CNV_SHAPE_MASK, mask[0]}, {{50, 30, 8, 8}, 0}};
  CnvWork work = {&plan, 1, .region = region, .n_regions = 2};
  CnvSchedule schedule;

  cnv_schedule_init(&schedule);
  ck_assert(cnv_schedule_set_work(&schedule, &work, FALSE) && schedule.has_new_masks);
  ck_assert_uint_eq(schedule.work.mask_cells->len, TEST_MASK_X * TEST_MASK_Y);
  ck_assert(!cnv_schedule_set_work(&schedule, &work, FALSE));
  region[1].rect.x = 51;
  ck_assert(cnv_schedule_set_work(&schedule, &work, FALSE) && !schedule.has_new_masks);
  region[0].mask = mask[1];
  ck_assert(cnv_schedule_set_work(&schedule, &work, FALSE) && schedule.has_new_masks);
  region[1] = region[0]; /* two regions share it */
  ck_assert(cnv_schedule_set_work(&schedule, &work, FALSE) && !schedule.has_new_masks);
  work.n_regions = 0;
  ck_assert(cnv_schedule_set_work(&schedule, &work, FALSE) && schedule.has_new_masks);
  ck_assert_uint_eq(schedule.work.mask_cells->len, 0);
  cnv_schedule_clear(&schedule);
  cnv_mask_unref(mask[0]);
  cnv_mask_unref(mask[1]);
  cnv_plan_unref(plan);
}
END_TEST

START_TEST(test_refusals)
{
  static const struct {
    const Taps *taps;
    CnvAlgorithm algorithm;
    const char *format;
    CnvBorder border;
    const char *says;
  } rows[] = {
      {&full_rank, CNV_ALGORITHM_FUSED, "GRAY8", CNV_BORDER_REPLICATE, "one row times one column"},
      {&blur, CNV_ALGORITHM_FUSED, "YUY2", CNV_BORDER_REPLICATE, "arrays of samples"},
      {&blur, CNV_ALGORITHM_TENSOR, "GRAY16_LE", CNV_BORDER_REPLICATE, NULL},
      {&blur, CNV_ALGORITHM_TENSOR, "GRAY16_LE", CNV_BORDER_RENORMALIZE, "12 bits"},
      {&full_rank, CNV_ALGORITHM_TENSOR, "GRAY16_LE", CNV_BORDER_REPLICATE, "12 bits"},
      {&widest, CNV_ALGORITHM_TENSOR, "RGBA", CNV_BORDER_REPLICATE, "tiles"},
      {&blur, CNV_ALGORITHM_TENSOR, "GRAY8", CNV_BORDER_WRAP, NULL},
      {&full_rank, CNV_ALGORITHM_TENSOR, "GRAY8", CNV_BORDER_RENORMALIZE, "renormalize"},
      {&full_rank, CNV_ALGORITHM_TENSOR, "GRAY8", CNV_BORDER_WRAP, NULL},
      {&blur, CNV_ALGORITHM_FUSED, "GRAY16_LE", CNV_BORDER_WRAP, NULL},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CnvPlan *plan = plan_of(rows[i].taps, rows[i].format, rows[i].border, rows[i].algorithm);
    GError *error = NULL;
    gboolean fits = cnv_cuda_can_at(90, rows[i].algorithm, plan, &plan->plane[0], &error);

    ck_assert_msg(!fits == (rows[i].says != NULL), "row %u", i);
    ck_assert_msg(fits || (error->code == CNV_ERROR_UNSUPPORTED && strstr(error->message, rows[i].says)), "row %u: %s",
                  i, fits ? "" : error->message);
    g_clear_error(&error);
    cnv_plan_unref(plan);
  }
}
END_TEST

/* If the taps of two plans do not fit constant memory together, each plan has a bank, with its own indices of taps. */
START_TEST(test_banks)
{
  const CnvImage image = {cnv_format_find("GRAY8"), 300, 200, 0.2126, 0.0722, FALSE};
  CnvPlan *plans[2];
  const CnvWork work = {.plan = plans, .n_plans = 2, .region = two_regions, .n_regions = 2};
  CnvSchedule schedule;

  for (int p = 0; p < 2; p++) {
    CnvFilter filter;

    test_filter_init(&filter);
    filter.type = CNV_FILTER_DISK;
    filter.radius = 60 + p;
    plans[p] = cnv_plan_new(&filter, &image, CNV_ALGORITHM_TILED, cnv_backend_find("cpu"), NULL);
    ck_assert(plans[p] != NULL && plans[p]->n_taps > CNV_CONSTANT_TAPS / 2);
    cnv_filter_clear(&filter);
  }
  set_work(&schedule, &work);
  ck_assert_uint_eq(schedule.banks->len, 2);
  ck_assert_uint_eq(schedule.launches->len, 2);
  for (guint i = 0; i < 2; i++) {
    const CnvLaunch *l = &g_array_index(schedule.launches, CnvLaunch, i);
    const CnvBlockJob *job = &g_array_index(schedule.block_jobs, CnvBlockJob, l->first);
    const CnvPlane *plane = &g_array_index(schedule.planes, CnvPlane, job->job.plan * CNV_MAX_PLANES);
    const CnvTerm *term = &plans[job->job.plan]->plane[0].term[0];
    const float *taps = &g_array_index(schedule.taps, float, l->bank + plane->term[0].taps[0]);

    ck_assert_uint_eq(l->bank, g_array_index(schedule.banks, guint, i));
    ck_assert_uint_le(plane->term[0].taps[0] + (guint)(term->n[CNV_X] * term->n[CNV_Y]), CNV_CONSTANT_TAPS);
    for (int y = 0; y < term->n[CNV_Y]; y++) /* taps are stored column by column */
      ck_assert(taps[5 * term->n[CNV_Y] + y] == (float)cnv_plan_tap(plans[job->job.plan], term, 5, y));
  }
  cnv_schedule_clear(&schedule);
  for (int p = 0; p < 2; p++)
    cnv_plan_unref(plans[p]);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_whole_frames);
  tcase_add_test(tcase, test_averages);
  tcase_add_test(tcase, test_pixels);
  tcase_add_test(tcase, test_decimated);
  tcase_add_test(tcase, test_decimated_rows);
  tcase_add_test(tcase, test_decimated_rows_of_plans);
  tcase_add_test(tcase, test_decimated_parts);
  tcase_add_test(tcase, test_decimated_again);
  tcase_add_test(tcase, test_cells);
  tcase_add_test(tcase, test_cells_share);
  tcase_add_test(tcase, test_gradient);
  tcase_add_test(tcase, test_regions);
  tcase_add_test(tcase, test_coverage);
  tcase_add_test(tcase, test_shared);
  tcase_add_test(tcase, test_kept_tiles);
  tcase_add_test(tcase, test_at_once);
  tcase_add_test(tcase, test_plans_together);
  tcase_add_test(tcase, test_weighed_tiles);
  tcase_add_test(tcase, test_work_again);
  tcase_add_test(tcase, test_masks);
  tcase_add_test(tcase, test_refusals);
  tcase_add_test(tcase, test_banks);
}

int
main(void)
{
  return test_main("schedule", add_tests);
}
