/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a fuzz target defines, by the names that libFuzzer calls; replay.c calls the same ones. And what targets share.
 */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds in every build, says what did not, and ends in the way that libFuzzer keeps the input of. */
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      g_printerr("%s: %s does not hold\n", G_STRFUNC, #condition);                                                     \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* Returns the input with a 0 after it, to be freed by free: of exactly that size, so that a sanitizer sees a read
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
