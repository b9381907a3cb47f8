/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions that a fuzz target defines, with the names that libFuzzer and replay.c call, and helpers that targets
 * share.
 */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion in every build. It prints the failed condition, and aborts so that libFuzzer keeps the input. */
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      g_printerr("%s: %s does not hold\n", G_STRFUNC, #condition);                                                     \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* Returns the input followed by a 0, to be freed with free. It has exactly that size, so that a sanitizer detects reads
 * beyond its end. */
static inline char *
fuzz_text(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);

  if (size > 0)
    memcpy(text, data, size);
  text[size] = '\0';
  return text;
}
