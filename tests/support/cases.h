/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A case: a filter on a frame, run on every available variant of the engine (backend, algorithm, memory) that supports
 * it, and compared with the oracle. The sets of cases are in kernels.c.
 */
#pragma once

#include "support/device.h"
#include "support/oracle.h"

/* Frames on which a filter is timed; all other members are as in TestCase. */
typedef struct {
  const char *format;
  int width, height;
  int radii[16]; /* radii of generated filters, ended by 0; other filters: only 0 */
  int square, temporal_radius, depth;
  CnvShape shape;            /* only with square */
  int feather, count;        /* feather of the square; count: squares all over the frame, 0: one in its middle */
  gboolean noise;            /* TRUE: a mask is noise; FALSE: a disc */
  gboolean isolated, invert; /* only with square (convolve/work.h) */
} TestTiming;

/* A row of the table of test filters. Custom taps are random, from the case's seed. */
typedef struct {
  const char *name;
  CnvFilterType type;
  enum { TAPS_NONE, TAPS_POSITIVE, TAPS_SIGNED, TAPS_ZERO_SUM, TAPS_RANK, TAPS_FIXED } taps;
  int width, height;      /* custom: size of the kernel */
  gboolean axes;          /* custom: kernel-x with width taps and kernel-y with height taps; 0: none */
  int radius_x, radius_y; /* generated: radius along an axis; -1: the case's radius */
  double sigma, scale, bias;
  gboolean raw;            /* not normalised */
  gboolean exact;          /* float32 is exact at every step, so ties must go to even */
  const double *fixed;     /* TAPS_FIXED: the taps */
  int terms;               /* number of terms on planes that are not subsampled; 0: one; -1: any number */
  int radius;              /* generated: radius of this filter; 0: the case's */
  int rank;                /* TAPS_RANK: number of random terms that are added up */
  int anchor_x, anchor_y;  /* custom, counted from 1; 0: the middle */
  gboolean flip;           /* custom */
  CnvGradient gradient;    /* for derivatives */
  double amount, angle;    /* amount: 0 means 1 */
  int depth;               /* custom: frames of the kernel; 0: one */
  const TestTiming *timed; /* ends with a NULL format; NULL: not timed */
  double threshold;        /* temporal-threshold */
} TestFilter;

extern const TestFilter test_filters[]; /* ends with a NULL name */

const TestFilter *test_filter_find(const char *name);

/* Regions of a frame, in luma pixels. n_random: number of further regions, small ones at random places. */
typedef struct {
  const char *name;
  guint n_plans, n_regions; /* plan 0 has the case's filter; later ones have another radius, and every second one is a
                               box */
  CnvRegion region[6];      /* all masks are test_mask_new() */
  guint n_random;
  gboolean any_shape; /* random regions have any shape */
  double feather;
  gboolean invert, isolated, moved;
  int target_x, target_y;
} TestRegions;

#define TEST_MAX_PLANS 5

typedef struct {
  const TestFilter *filter;
  int radius; /* for generated filters */
  const char *format;
  int width, height;
  CnvBorder border;
  TestPattern pattern;
  TestLayout in, out;
  guint32 color; /* border colour; 0: opaque black */
  gboolean full_range;
  guint planes; /* as CnvFilter.planes; 0: the default */
  gboolean chroma_same;
  gboolean chroma_set; /* TRUE: chroma_radius and chroma_sigma are used */
  int chroma_radius;
  double chroma_sigma;
  CnvAlphaMode alpha_mode;
  gboolean absolute;
  gboolean interlaced;
  const TestRegions *regions; /* NULL: the whole frame */
  int square;                 /* side of a region in the middle of the frame, if regions is NULL; 0: the whole frame */
  CnvShape shape;             /* of the square; count: squares all over the frame, 0: one */
  int feather, count;
  gboolean noise;            /* timed cases: a mask is noise, not a disc */
  gboolean isolated, invert; /* for the square */
  int temporal_radius;       /* number of frames before and after the case's frame */
  int depth;                 /* number of frames of the kernel, each with its own taps; 0: as in the filter */
} TestCase;

/* Stores the regions of a case's squares, at most CNV_MAX_REGIONS. Returns their number. */
guint test_case_squares(const TestCase *c, CnvMask *mask, CnvRegion *region);

/* The extent of a run. In the environment, CNV_SEED sets the seed, and CNV_CASE the number of the only case to run.
 * With --quick, one case in CNV_QUICK_STEP runs. */
typedef struct {
  guint32 seed;
  guint only; /* 0: all */
  guint quick_step;
  enum { TEST_QUICK, TEST_NORMAL, TEST_FULL } extent;
  const char *backend; /* name of the only backend to run; NULL: all that are available */
  const char *simd;    /* instruction set of the CPU engine; NULL: the best */
} TestOptions;

extern TestOptions test_options;

/* Sets the options from the environment. */
void test_options_read(void);

/* Make the filter of a row, or a case's filter for a plan. Clear it with cnv_filter_clear. */
void test_filter_make(const TestFilter *row, int radius, guint32 seed, CnvFilter *filter);
void test_case_filter(const TestCase *c, guint plan, guint32 seed, CnvFilter *filter);
void test_image_make(const TestCase *c, CnvImage *image);

/* Returns TRUE if no tap of the row's filters is negative. */
gboolean test_filter_is_positive(const TestFilter *row);

/* Returns TRUE if a flat frame does not change. */
gboolean test_filter_keeps_flat(const TestFilter *row);

/* A way to run a case. All variants of a backend share its session. */
typedef struct {
  const CnvBackend *backend;
  CnvSession *session;
  CnvAlgorithm algorithm;
  CnvMemory memory;
  guint runs, refusals;
  const char *method[CNV_MAX_PLANES]; /* CnvSessionStats.method of the last run */
  guint expected, runs_before;        /* of a set: cases that must run; runs before the first */
  guint64 samples, inexact;           /* noise under positive taps, since the last test_cases_finish */
  guint64 all_samples, all_inexact;
} TestVariant;

extern GArray *test_variants; /* elements: TestVariant */

/* Returns TRUE if one of the planes was filtered by that method. */
static inline gboolean
test_has_method(const char *const method[CNV_MAX_PLANES], const char *name)
{
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    if (method[p] && g_str_equal(method[p], name))
      return TRUE;
  return FALSE;
}

/* Returns the CPU's variant of an algorithm, or NULL. */
const TestVariant *test_cpu_variant(CnvAlgorithm algorithm);

/* Opens a session on each available backend and prints it, or prints why it is not available. Returns FALSE if there is
 * none. */
gboolean test_variants_open(void);
/* Closes the sessions and prints what ran. */
void test_variants_close(void);

/* A pair of frames as passed to a session: in host memory, or copies on the device. in and out must outlive it. */
typedef struct {
  const TestFrame *in;
  TestFrame *out;
  CnvMemory memory;
  CnvFrame from, to;
  TestDeviceFrame device_in, device_out;
} TestRun;

void test_run_init(TestRun *run, CnvMemory memory, const TestFrame *in, TestFrame *out);

/* Copies the output to `out`, after cnv_session_wait. */
void test_run_finish(TestRun *run);

/* Returns the number of products (taps times samples) of the plan per frame. */
double test_plan_products(const CnvPlan *plan);

/* Returns a case of noise with radius 3, in memory at odd addresses that differ from case to case. The caller may
 * change it. */
TestCase test_case_base(const char *filter, const char *format, int width, int height);

/* Returns the timed cases (TestCase), with border replicate. Free with g_array_unref. */
GArray *test_timed_cases(void);

/* Counts a case and computes its seed. Returns FALSE if the options exclude the case. */
gboolean test_case_begins(guint32 *seed);

/* Returns a label to find the case again, such as "case 7 (CNV_SEED=1)". Free with g_free. */
char *test_case_label(void);

/* Runs a case on every variant, except slow algorithms on too many products (max_products in cases.c). */
void test_case_run(const TestCase *c);

/* Compares an output frame with the oracle. what: description for failures. */
void test_output_check(const CnvWork *work, const TestFrame *in, const TestFrame *out, const char *what);

/* Compares an output frame of a clip with the oracle. in: the frame of the clip that it belongs to. */
void test_clip_check(const CnvWork *work, const OracleClip *clip, const TestFrame *in, const TestFrame *out,
                     const char *what);

/* Returns a name such as "cuda tiled device-memory". Free with g_free. */
char *test_variant_name(const TestVariant *v);

/* Reports a failure that is not about a single sample. */
void test_fail(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Return the test cases of kernels_fft.c, kernels_parts.c (which parts of a frame are filtered), kernels_time.c
 * (filters over several frames), sessions.c (plans that change, and sessions side by side), changes.c (differences
 * between frames), cuts.c (work that is cut in different ways), gaussians.c (gaussians by auto on the CPU) and
 * decimated.c (wide gaussians on a GPU). */
struct TCase *test_fft_tcase(void);
struct TCase *test_parts_tcase(void);
struct TCase *test_time_tcase(void);
struct TCase *test_sessions_tcase(void);
struct TCase *test_changes_tcase(void);
struct TCase *test_cuts_tcase(void);
struct TCase *test_gaussians_tcase(void);
struct TCase *test_decimated_tcase(void);

/* Ends a set of cases, and asserts that none failed. */
void test_set_finish(const char *set);

/* Ends a set of cases and checks the exactness over all of them. Returns the number of failures. Each was printed with
 * everything needed to run it again. */
guint test_cases_finish(const char *set);
