/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A case: a filter on a frame, run on every variant of the engine (backend, algorithm, memory) that is here and can do
 * it, and held against the oracle. The sets of cases are in kernels.c.
 */
#pragma once

#include "support/device.h"
#include "support/oracle.h"

/* Frames that a filter is timed on; the rest is as in TestCase. */
typedef struct {
  const char *format;
  int width, height;
  int radii[16]; /* of generated filters, up to the first 0; of others 0 alone */
  int square, temporal_radius, depth;
  CnvShape shape;            /* with square */
  int feather, count;        /* of the square; squares all over the frame, 0: one in its middle */
  gboolean noise;            /* a mask is noise, not a disc */
  gboolean isolated, invert; /* of the square (convolve/work.h) */
} TestTiming;

/* A row of the table of test filters. Taps of custom ones are random, from the case's seed. */
typedef struct {
  const char *name;
  CnvFilterType type;
  enum { TAPS_NONE, TAPS_POSITIVE, TAPS_SIGNED, TAPS_ZERO_SUM, TAPS_RANK, TAPS_FIXED } taps;
  int width, height;      /* custom: of the kernel */
  gboolean axes;          /* custom: as kernel-x and kernel-y, of width and height taps; 0: none */
  int radius_x, radius_y; /* generated: -1 takes the case's radius */
  double sigma, scale, bias;
  gboolean raw;            /* not normalised */
  gboolean exact;          /* float32 holds every step, so that ties must go to even */
  const double *fixed;     /* TAPS_FIXED */
  int terms;               /* that the taps are as rows and columns, where not subsampled; 0: one; -1: any number */
  int radius;              /* generated: not the case's; 0: the case's */
  int rank;                /* TAPS_RANK: so many random rows times columns are added up */
  int anchor_x, anchor_y;  /* custom, counted from 1; 0: the middle */
  gboolean flip;           /* custom */
  CnvGradient gradient;    /* of derivatives */
  double amount, angle;    /* amount: 0 for 1 */
  int depth;               /* custom: frames of the kernel; 0: one */
  const TestTiming *timed; /* ends with a NULL format; NULL: it is not timed */
} TestFilter;

extern const TestFilter test_filters[]; /* ends with a NULL name */

const TestFilter *test_filter_find(const char *name);

/* Regions of a frame, in luma pixels. With n_random they are random instead, small ones all over it. */
typedef struct {
  const char *name;
  guint n_plans, n_regions; /* plan 0 is the case's filter; those after it differ in radius and, by turns, in kind */
  CnvRegion region[6];      /* masks are test_mask_new() */
  guint n_random;
  gboolean any_shape; /* of random ones */
  double feather;
  gboolean invert, isolated, moved;
  int target_x, target_y;
} TestRegions;

#define TEST_MAX_PLANS 5

typedef struct {
  const TestFilter *filter;
  int radius; /* of generated filters */
  const char *format;
  int width, height;
  CnvBorder border;
  TestPattern pattern;
  TestLayout in, out;
  guint32 color; /* of the constant border */
  gboolean full_range;
  guint planes; /* of CnvFilter.planes; 0: the default */
  gboolean chroma_same;
  gboolean chroma_set; /* chroma_radius and _sigma count */
  int chroma_radius;
  double chroma_sigma;
  CnvAlphaMode alpha_mode;
  gboolean absolute;
  gboolean interlaced;
  const TestRegions *regions; /* NULL: the whole frame */
  int square;                 /* side of the region in the middle of the frame, without regions; 0: the whole frame */
  CnvShape shape;             /* of the square; its feather, and how many of it there are all over the frame (0: one) */
  int feather, count;
  gboolean noise;            /* of timed cases: a mask is noise, not a disc */
  gboolean isolated, invert; /* of the square */
  int temporal_radius;       /* the frame is the middle one of so many before and behind it */
  int depth;                 /* so many frames count, each with taps of its own; 0: by the filter */
} TestCase;

/* Fills in the regions that are a case's squares, at most CNV_MAX_REGIONS. Returns their number. */
guint test_case_squares(const TestCase *c, CnvMask *mask, CnvRegion *region);

/* What a run covers. CNV_SEED in the environment sets the seed, CNV_CASE the number of the only case to run,
 * CNV_QUICK_STEP how many cases --quick counts for one that it runs. */
typedef struct {
  guint32 seed;
  guint only; /* 0: all */
  guint quick_step;
  enum { TEST_QUICK, TEST_NORMAL, TEST_FULL } extent;
  const char *backend; /* name of the only one to run; NULL: all that are here */
  const char *simd;    /* instruction set of the CPU engine; NULL: the best */
} TestOptions;

extern TestOptions test_options;

/* Sets what the environment does. */
void test_options_read(void);

/* Makes the filter of a row, or a case's filter for a plan; clear it with cnv_filter_clear. */
void test_filter_make(const TestFilter *row, int radius, guint32 seed, CnvFilter *filter);
void test_case_filter(const TestCase *c, guint plan, guint32 seed, CnvFilter *filter);
void test_image_make(const TestCase *c, CnvImage *image);

/* TRUE where no tap of the row's filters is negative. */
gboolean test_filter_is_positive(const TestFilter *row);

/* TRUE where a flat frame comes out as it went in. */
gboolean test_filter_keeps_flat(const TestFilter *row);

/* A way to run a case. Variants of one backend share its session. */
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

extern GArray *test_variants; /* of TestVariant */

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

/* Opens a session on each backend that is here and prints it, or why it is not. FALSE where none is. */
gboolean test_variants_open(void);
/* Closes the sessions and prints what ran. */
void test_variants_close(void);

/* A pair of frames as a session takes them, in host memory or as twins on the device. in and out outlive it. */
typedef struct {
  const TestFrame *in;
  TestFrame *out;
  CnvMemory memory;
  CnvFrame from, to;
  TestDeviceFrame device_in, device_out;
} TestRun;

void test_run_init(TestRun *run, CnvMemory memory, const TestFrame *in, TestFrame *out);

/* After cnv_session_wait: brings the output to out. */
void test_run_finish(TestRun *run);

/* Products (taps times samples) that the plan's algorithms take for a frame. */
double test_plan_products(const CnvPlan *plan);

/* A case of noise with radius 3, in memory at odd addresses that differ from case to case; to be changed at will. */
TestCase test_case_base(const char *filter, const char *format, int width, int height);

/* Returns the cases that are timed, of TestCase, with edges repeated. g_array_unref. */
GArray *test_timed_cases(void);

/* Counts a case, and makes its seed. FALSE where the options leave it out. */
gboolean test_case_begins(guint32 *seed);

/* "case 7 (CNV_SEED=1)", to find it again by; g_free. */
char *test_case_label(void);

/* Runs a case on every variant. Those that would take too long are left to faster algorithms (max_products). */
void test_case_run(const TestCase *c);

/* Holds one output frame against the oracle. what: words for a failure's report. */
void test_output_check(const CnvWork *work, const TestFrame *in, const TestFrame *out, const char *what);

/* The same for a frame of a clip, whose frames `in` is one of. */
void test_clip_check(const CnvWork *work, const OracleClip *clip, const TestFrame *in, const TestFrame *out,
                     const char *what);

/* "cuda tiled device-memory"; g_free. */
char *test_variant_name(const TestVariant *v);

/* Reports a failure that is none of a sample. */
void test_fail(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* The test cases of what parts of a frame are filtered (kernels_parts.c), of filters over several frames
 * (kernels_time.c), of plans that change and sessions side by side (sessions.c), of changes between frames (changes.c),
 * of work that is cut otherwise (cuts.c), of gaussians by auto on the CPU (gaussians.c), and of
 * wide ones on a GPU (decimated.c). */
struct TCase *test_fft_tcase(void);
struct TCase *test_parts_tcase(void);
struct TCase *test_time_tcase(void);
struct TCase *test_sessions_tcase(void);
struct TCase *test_changes_tcase(void);
struct TCase *test_cuts_tcase(void);
struct TCase *test_gaussians_tcase(void);
struct TCase *test_decimated_tcase(void);

/* Asserts that no case of a set that ends here failed. */
void test_set_finish(const char *set);

/* Ends a set of cases: checks the exactness over all of them, and returns the number of failures, each of which was
 * printed with all it takes to run it again. */
guint test_cases_finish(const char *set);
