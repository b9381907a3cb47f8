/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <convolve/status.h>

GQuark
cnv_error_quark(void)
{
  return g_quark_from_static_string("cnv-error-quark");
}

gboolean
cnv_refuse(GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start(args, format);
  text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error_literal(error, CNV_ERROR, CNV_ERROR_SETTINGS, text);
  return FALSE;
}
