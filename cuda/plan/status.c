/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <convolve/status.h>

GQuark
cnv_error_quark(void)
{
  return g_quark_from_static_string("cnv-error-quark");
}
