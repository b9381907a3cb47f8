/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * NVIDIA's NPP on the benchmark's frames, opened at run time. Its types and functions are declared here from its public
 * documentation, in the form with a stream context, which CUDA 11 to 13 have. So none of its headers is needed.
 */
#include "config.h"

#include "bench/bench.h"

#include <stdio.h>

#ifdef HAVE_CUDA
#include <gmodule.h>

#include "gpu/driver.h"
#include "plan/plan.h"

#define NPP_BORDER_REPLICATE 2
#define DENSE_TAPS_MAX (65 * 65)         /* most taps at once; with more, a frame takes tens of milliseconds */
#define TOOLKIT "/usr/local/cuda/lib64/" /* used if the linker's own folders have no NPP */

typedef struct {
  int width, height;
} NppSize;

typedef struct {
  int x, y;
} NppPoint;

typedef struct {
  CUstream stream;
  int device, multiprocessors, multiprocessor_threads, block_threads;
  size_t block_shared_bytes;
  int major, minor;
  unsigned int stream_flags;
  int reserved;
} NppContext;

#define NPP_IMAGES const guint8 *in, int in_step, NppSize size, NppPoint at, guint8 *out, int out_step, NppSize out_size

typedef int NppGauss(NPP_IMAGES, int n, const float *taps, int border, NppContext context);
typedef int NppLine(NPP_IMAGES, const float *taps, int n, int anchor, int border, NppContext context);
typedef int NppDense(NPP_IMAGES, const float *taps, NppSize n, NppPoint anchor, int border, NppContext context);

typedef enum { GAUSS, ROWS_AND_COLUMNS, DENSE } Kind;

typedef struct {
  const char *name;
  const char *format; /* one plane of 8 bits */
  Kind kind;
  const char *symbol[2]; /* ROWS_AND_COLUMNS: for rows and for columns */
} Row;

#define NPP_ROWS(format, suffix, layout)                                                                               \
  {"npp-gauss" suffix, format, GAUSS, {"nppiFilterGaussAdvancedBorder_8u_" layout "_Ctx"}},                            \
      {"npp-rows-columns" suffix,                                                                                      \
       format,                                                                                                         \
       ROWS_AND_COLUMNS,                                                                                               \
       {"nppiFilterRowBorder32f_8u_" layout "_Ctx", "nppiFilterColumnBorder32f_8u_" layout "_Ctx"}},                   \
  {                                                                                                                    \
    "npp-dense" suffix, format, DENSE,                                                                                 \
    {                                                                                                                  \
      "nppiFilterBorder32f_8u_" layout "_Ctx"                                                                          \
    }                                                                                                                  \
  }

static const Row rivals[] = {
    NPP_ROWS("GRAY8", "", "C1R"), NPP_ROWS("RGBA", "", "C4R"),
    NPP_ROWS("RGBA", "-ac4", "AC4R"), /* alpha is not changed */
};

struct BenchRival {
  const Row *row;
  gpointer entry[2];
  NppSize size, n;
  float *taps[2]; /* in device memory: x, y; DENSE: all in the first */
  TestDeviceFrame rows;
  CnvFrame rows_view; /* ROWS_AND_COLUMNS: between the two passes */
  const TestFrame *frame;
};

static GModule *npp;
static NppContext npp_context;

/* Fills in the context, with entries of libcuda that the engine does not use. Returns FALSE if that is not possible. */
static gboolean
fill_context(CnvSession *session)
{
  GModule *cuda = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY);
  __typeof__(cuDeviceGetAttribute) *attribute = NULL;
  __typeof__(cuStreamGetFlags) *flags = NULL;
  CUdevice device;
  int shared = 0;
  gboolean right;

  if (!cuda || !g_module_symbol(cuda, "cuDeviceGetAttribute", (gpointer *)&attribute) ||
      !g_module_symbol(cuda, "cuStreamGetFlags", (gpointer *)&flags))
    return FALSE;
  npp_context = (NppContext){.stream = test_timer_stream(session)};
  right = cnv_driver_get(NULL)->cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
          attribute(&npp_context.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) == CUDA_SUCCESS &&
          attribute(&npp_context.multiprocessor_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device) ==
              CUDA_SUCCESS &&
          attribute(&npp_context.block_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) == CUDA_SUCCESS &&
          attribute(&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device) == CUDA_SUCCESS &&
          attribute(&npp_context.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS &&
          attribute(&npp_context.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) == CUDA_SUCCESS &&
          flags(npp_context.stream, &npp_context.stream_flags) == CUDA_SUCCESS;
  npp_context.block_shared_bytes = shared;
  g_module_close(cuda);
  return right;
}

static GModule *
open_library(const char *folder, const char *stem, int version)
{
  char *name = g_strdup_printf("%slib%s.so.%d", folder, stem, version);
  GModule *module = g_module_open(name, G_MODULE_BIND_LAZY);

  g_free(name);
  return module;
}

/* Opens NPP. The filters need its core, which they find after it is open. */
static GModule *
open_npp(const char *folder, int version)
{
  GModule *core = open_library(folder, "nppc", version);
  GModule *filters = core ? open_library(folder, "nppif", version) : NULL;

  if (!filters && core)
    g_module_close(core);
  return filters;
}

void
bench_rivals_open(CnvSession *session)
{
  for (int version = 13; version >= 11 && !npp; version--) {
    npp = open_npp("", version);
    if (!npp)
      npp = open_npp(TOOLKIT, version);
  }
  if (npp && !fill_context(session))
    g_clear_pointer(&npp, g_module_close);
  if (npp)
    fprintf(stderr, "beside NPP: %s\n", g_module_name(npp));
  else
    fputs("not beside NPP: libnppc.so and libnppif.so of CUDA 11, 12 or 13 are not found\n", stderr);
}

void
bench_rivals_close(void)
{
  g_clear_pointer(&npp, g_module_close);
}

const char *
bench_rival_name(guint i)
{
  return i < G_N_ELEMENTS(rivals) ? rivals[i].name : NULL;
}

/* Returns TRUE if the rival supports the plan's first plane: one sum in the picture, normalised and nothing more, with
 * the anchor in the middle. */
static gboolean
takes(const Row *row, const CnvPlan *plan)
{
  const CnvPlane *p = &plan->plane[0];
  const CnvTerm *t = &p->term[0];

  return g_str_equal(row->format, plan->image.format->name) && plan->n_planes == 1 && plan->n_temporal_taps == 1 &&
         plan->filter.border == CNV_BORDER_REPLICATE && p->plain && p->combine == CNV_COMBINE_SUM && p->n_terms == 1 &&
         t->n[CNV_X] % 2 == 1 && t->n[CNV_Y] % 2 == 1 && t->anchor[CNV_X] == t->n[CNV_X] / 2 &&
         t->anchor[CNV_Y] == t->n[CNV_Y] / 2 && ABS(p->gain[0] * t->sum[CNV_X] * t->sum[CNV_Y] - 1) < 1e-3 &&
         (row->kind == DENSE ? t->n[CNV_X] * t->n[CNV_Y] <= DENSE_TAPS_MAX : t->separable) &&
         (row->kind != GAUSS || t->n[CNV_X] == t->n[CNV_Y]);
}

/* Uploads taps in reverse order, as NPP expects them. */
static float *
upload_taps(const float *from, int n, float factor)
{
  float *taps = g_new(float, n), *device;

  for (int i = 0; i < n; i++)
    taps[i] = factor * from[n - 1 - i];
  device = test_device_upload(taps, n * sizeof *taps);
  g_free(taps);
  return device;
}

static float *
upload_dense(const CnvPlan *plan)
{
  const CnvTerm *t = &plan->plane[0].term[0];
  const int width = t->n[CNV_X], n = width * t->n[CNV_Y];
  float *taps = g_new(float, n), *device;

  for (int i = 0; i < n; i++)
    taps[i] = t->separable ? plan->taps[t->taps[CNV_X] + i % width] * plan->taps[t->taps[CNV_Y] + i / width]
                           : plan->taps[t->taps[0] + i];
  device = upload_taps(taps, n, plan->plane[0].gain[0]);
  g_free(taps);
  return device;
}

static void
upload_axes(BenchRival *rival, const CnvPlan *plan)
{
  const CnvTerm *t = &plan->plane[0].term[0];

  for (int axis = CNV_X; axis <= CNV_Y; axis++)
    rival->taps[axis] = upload_taps(plan->taps + t->taps[axis], t->n[axis], 1 / t->sum[axis]);
}

BenchRival *
bench_rival_new(guint i, const CnvPlan *plan, const TestFrame *frame)
{
  const Row *row = &rivals[i];
  const CnvTerm *t = &plan->plane[0].term[0];
  BenchRival *rival;
  gpointer entry[2] = {NULL, NULL};

  for (int k = 0; k < 2; k++)
    if (!npp || !takes(row, plan) || (row->symbol[k] && !g_module_symbol(npp, row->symbol[k], &entry[k])))
      return NULL;
  rival = g_new0(BenchRival, 1);
  *rival = (BenchRival){.row = row,
                        .entry = {entry[0], entry[1]},
                        .size = {plan->image.width, plan->image.height},
                        .n = {t->n[CNV_X], t->n[CNV_Y]},
                        .frame = frame};
  if (row->kind == DENSE)
    rival->taps[0] = upload_dense(plan);
  else
    upload_axes(rival, plan);
  if (row->kind == ROWS_AND_COLUMNS) {
    test_device_frame_init(&rival->rows, frame);
    test_device_frame_view(&rival->rows, frame, &rival->rows_view);
  }
  return rival;
}

#define IMAGES(from, to) (from)->data[0], (from)->stride[0], r->size, origin, (to)->data[0], (to)->stride[0], r->size
#define REST NPP_BORDER_REPLICATE, npp_context

static int
run(const BenchRival *r, const CnvFrame *in, const CnvFrame *out)
{
  const NppPoint origin = {0, 0}, middle = {r->n.width / 2, r->n.height / 2};
  int status;

  switch (r->row->kind) {
  case GAUSS:
    return ((NppGauss *)r->entry[0])(IMAGES(in, out), r->n.width, r->taps[0], REST);
  case ROWS_AND_COLUMNS:
    status = ((NppLine *)r->entry[0])(IMAGES(in, &r->rows_view), r->taps[0], r->n.width, middle.x, REST);
    return status < 0 ? status
                      : ((NppLine *)r->entry[1])(IMAGES(&r->rows_view, out), r->taps[1], r->n.height, middle.y, REST);
  default:
    return ((NppDense *)r->entry[0])(IMAGES(in, out), r->taps[0], r->n, middle, REST);
  }
}

/* Status below zero is an error, above zero a warning. */
gboolean
bench_rival_run(BenchRival *rival, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  const int status = run(rival, in, out);

  if (status < 0)
    g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, "%s: status %d", rival->row->name, status);
  return status >= 0;
}

void
bench_rival_free(BenchRival *rival)
{
  for (int i = 0; i < 2; i++)
    test_device_free(rival->taps[i]);
  test_device_frame_clear(&rival->rows);
  g_free(rival);
}

#else

void
bench_rivals_open(CnvSession *session)
{
}

void
bench_rivals_close(void)
{
}

const char *
bench_rival_name(guint i)
{
  return NULL;
}

BenchRival *
bench_rival_new(guint i, const CnvPlan *plan, const TestFrame *frame)
{
  return NULL;
}

gboolean
bench_rival_run(BenchRival *rival, const CnvFrame *in, const CnvFrame *out, GError **error)
{
  return FALSE;
}

void
bench_rival_free(BenchRival *rival)
{
}
#endif
