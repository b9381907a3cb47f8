/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels as text files: one line per row, numbers separated by commas, spaces or both, # begins a comment, a blank
 * line ends a frame. Numbers are decimals, with or without an exponent, or fractions like 1/16, in every locale.
 */
#pragma once

#include <convolve/filter.h>

/* Return taps, or NULL with CNV_ERROR_SETTINGS. The message names the file, the line and column (from 1), and the fix.
 * text: `size` bytes, followed by a 0. */
CnvTaps *gst_cuda_convolve_kernel_parse(const char *text, gsize size, const char *path, GError **error);
CnvTaps *gst_cuda_convolve_kernel_load(const char *path, GError **error);
