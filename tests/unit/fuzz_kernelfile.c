/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fuzzing of kernels as text files (gst/properties/kernelfile.c). An input is the contents of a file. Meson builds this
 * with replay.c, which runs the files of corpus/kernelfile/; tests/README.md has the commands for libFuzzer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "properties/kernelfile.h"
#include "unit/fuzz.h"

#define NAME "a name"
#define LONGEST (2 * CNV_RADIUS_MAX + 1)

/* Taps that are written and read again are equal. */
static void
check_taps(const CnvTaps *taps)
{
  GString *text = g_string_new(NULL);
  GError *error = NULL;
  CnvTaps *again;

  CHECK(taps->width >= 1 && taps->width <= LONGEST && taps->height >= 1 && taps->height <= LONGEST);
  CHECK(taps->depth >= 1 && taps->depth <= CNV_MAX_TEMPORAL_TAPS);
  for (int i = 0; i < taps->width * taps->height * taps->depth; i++) {
    char number[G_ASCII_DTOSTR_BUF_SIZE];

    CHECK(isfinite(taps->value[i]));
    g_string_append(text, g_ascii_dtostr(number, sizeof(number), taps->value[i]));
    g_string_append(text, (i + 1) % taps->width == 0 ? "\n" : i % 2 ? ", " : "\t");
    if ((i + 1) % (taps->width * taps->height) == 0)
      g_string_append(text, "\n");
  }
  again = gst_cuda_convolve_kernel_parse(text->str, text->len, NAME, &error);
  CHECK(again && !error && cnv_taps_equal(taps, again));
  cnv_taps_unref(again);
  g_string_free(text, TRUE);
}

/* The message names a place within the text, and has more words. */
static void
check_error(const GError *error, const char *text, size_t size)
{
  unsigned line = 0, column = 0, lines = 1;
  int read = 0;

  for (size_t i = 0; i < size; i++)
    lines += text[i] == '\n' || text[i] == '\r';
  CHECK(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS) && g_utf8_validate(error->message, -1, NULL));
  CHECK(sscanf(error->message, "kernel-location=" NAME ": line %u, column %u: %n", &line, &column, &read) == 2);
  CHECK(line >= 1 && line <= lines && column >= 1 && column <= size + 1);
  CHECK(read > 0 && strlen(error->message) > (size_t)read);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = fuzz_text(data, size);
  GError *error = NULL;
  CnvTaps *taps;

  taps = gst_cuda_convolve_kernel_parse(text, size, NAME, &error);
  CHECK((taps == NULL) == (error != NULL));
  if (taps)
    check_taps(taps);
  else
    check_error(error, text, size);
  cnv_taps_unref(taps);
  g_clear_error(&error);
  free(text);
  return 0;
}
