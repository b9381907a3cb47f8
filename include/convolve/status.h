/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's errors: GErrors of one domain. Every message names the value, the limit and the fix. The element posts
 * it unchanged.
 */
#pragma once

#include <glib.h>

#define CNV_ERROR (cnv_error_quark())
GQuark cnv_error_quark(void);

typedef enum {
  CNV_ERROR_SETTINGS,    /* the filter is not valid: a missing kernel, a radius beyond the limit */
  CNV_ERROR_UNSUPPORTED, /* the filter is valid, but the chosen algorithm or device cannot run it */
  CNV_ERROR_NO_DEVICE,   /* no driver, no GPU, no such device, or a driver that is too old */
  CNV_ERROR_MEMORY,      /* out of device or page-locked memory */
  CNV_ERROR_DEVICE,      /* any other error of the CUDA driver; the message contains its name */
} CnvErrorCode;

/* Sets CNV_ERROR_SETTINGS with a printf message, and evaluates to FALSE. */
#define cnv_refuse(error, ...) (g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, __VA_ARGS__), FALSE)

/* Sets CNV_ERROR_UNSUPPORTED with a printf message, and evaluates to FALSE. */
#define cnv_unsupported(error, ...) (g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, __VA_ARGS__), FALSE)

/* An enum value with its nick and its description. A table of nicks ends with a NULL nick. Its rows are in the order of
 * the enum, from 0 and without gaps, unless the values are bits. */
typedef struct {
  int value;
  const char *nick;  /* in lower case, as in a pipeline description: "reflect-101" */
  const char *blurb; /* one line for gst-inspect-1.0 */
} CnvNick;
