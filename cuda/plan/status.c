/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <convolve/status.h>

G_DEFINE_QUARK(cnv - error - quark, cnv_error)
