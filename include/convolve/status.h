/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Failures as the engine reports them: GLib's GError with one domain.
 * Every message names the value, the limit and the remedy; the element passes it on as it is.
 */
#pragma once

#include <glib.h>

#define CNV_ERROR (cnv_error_quark())
GQuark cnv_error_quark(void);

typedef enum {
  CNV_ERROR_SETTINGS,    /* a filter that cannot be: a missing kernel, a radius beyond the limit */
  CNV_ERROR_UNSUPPORTED, /* a right filter that the chosen algorithm or device cannot do */
  CNV_ERROR_NO_DEVICE,   /* no driver, no GPU, no such device, a driver that is too old */
  CNV_ERROR_MEMORY,      /* out of device or pinned memory */
  CNV_ERROR_DEVICE,      /* any other error of the CUDA driver; the message has its name */
} CnvErrorCode;

/* Sets CNV_ERROR_SETTINGS to a message as of printf; FALSE. */
#define cnv_refuse(error, ...) (g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, __VA_ARGS__), FALSE)

/* The same with CNV_ERROR_UNSUPPORTED. */
#define cnv_unsupported(error, ...) (g_set_error(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED, __VA_ARGS__), FALSE)

/* A row of a table that ties an enum value to its nick and its explanation. Tables end with a NULL nick, and their
 * entries stand in the order of the enum, from 0, without gaps. */
typedef struct {
  int value;
  const char *nick;  /* lower case, as written in a pipeline: "reflect-101" */
  const char *blurb; /* one line for gst-inspect-1.0 */
} CnvNick;
