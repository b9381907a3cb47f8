/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a fuzz target defines, by the names that libFuzzer calls; replay.c calls the same ones.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
