/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels as text files: rows on lines, numbers separated by commas, spaces or both, # begins a comment, a blank line
 * ends a frame. Numbers are decimals, with or without an exponent, and fractions like 1/16, in every locale.
 */
#pragma once

#include <convolve/filter.h>

/* Both return taps, or NULL with CNV_ERROR_SETTINGS and a message that names the file, the line and column of what is
 * wrong, both from 1, and the remedy. text: with a 0 behind its size. */
CnvTaps *gst_cuda_convolve_kernel_parse(const char *text, gsize size, const char *path, GError **error);
CnvTaps *gst_cuda_convolve_kernel_load(const char *path, GError **error);
