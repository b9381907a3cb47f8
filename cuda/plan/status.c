/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <convolve/status.h>

G_DEFINE_QUARK(cnv - error - quark, cnv_error)

gboolean
cnv_refuse(GError **error, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(CNV_ERROR, CNV_ERROR_SETTINGS, format, args));
  va_end(args);
  return FALSE;
}
