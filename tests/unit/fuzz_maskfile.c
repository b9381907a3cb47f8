/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fuzzing of masks as picture files (gst/regions/maskfile.c, gst/regions/pngfile.c). An input is the contents of a
 * file. Meson builds this with replay.c, which runs the files of corpus/maskfile/; tests/README.md has the commands for
 * libFuzzer.
 */
#include <stdlib.h>
#include <string.h>

#include "regions/maskfile.h"
#include "unit/fuzz.h"

#define NAME "a name"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  gst_init(NULL, NULL);
  return 0;
}

/* Reads every weight, so that a sanitizer detects one that was never written. */
static void
check_mask(GstBuffer *mask)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta(mask);
  guint8 *weights = gst_cuda_convolve_mask_read(mask, NULL, NULL);
  gsize n = (gsize)meta->width * meta->height, full = 0;

  CHECK(weights && meta->width >= 1 && meta->height >= 1 && n <= GST_CUDA_CONVOLVE_MASK_CELLS);
  for (gsize i = 0; i < n; i++)
    full += weights[i] == 255;
  CHECK(full <= n);
  CHECK(strcmp(gst_cuda_convolve_mask_path(mask), NAME) == 0);
  g_free(weights);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *bytes = fuzz_text(data, size);
  GError *error = NULL;
  GstBuffer *mask;

  mask = gst_cuda_convolve_mask_parse(bytes, size, NAME, &error);
  CHECK((mask == NULL) == (error != NULL));
  if (mask) {
    check_mask(mask);
    gst_buffer_unref(mask);
  } else {
    CHECK(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS) && g_utf8_validate(error->message, -1, NULL));
    CHECK(g_str_has_prefix(error->message, "roi-mask-location=" NAME ": ") && strlen(error->message) > 30);
  }
  g_clear_error(&error);
  free(bytes);
  return 0;
}
