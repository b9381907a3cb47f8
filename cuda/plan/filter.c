/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A filter as a value: copies, the radius and sigma in force, and the nicks of its enums.
 */
#include <math.h>

#include "plan/kernel.h"

void
cnv_filter_copy(CnvFilter *to, const CnvFilter *from)
{
  CnvTaps *const shared[] = {from->kernel, from->kernel_t, from->kernel_axis[CNV_X], from->kernel_axis[CNV_Y]};

  *to = *from;
  for (guint i = 0; i < G_N_ELEMENTS(shared); i++)
    if (shared[i])
      cnv_taps_ref(shared[i]);
}

void
cnv_filter_clear(CnvFilter *filter)
{
  g_clear_pointer(&filter->kernel, cnv_taps_unref);
  g_clear_pointer(&filter->kernel_t, cnv_taps_unref);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    g_clear_pointer(&filter->kernel_axis[axis], cnv_taps_unref);
}

/* ---- radius and sigma ---- */

static double
explicit_sigma(const CnvFilter *filter, int axis)
{
  return filter->sigma_axis[axis] > 0 ? filter->sigma_axis[axis] : filter->sigma;
}

int
cnv_filter_radius(const CnvFilter *filter, int axis)
{
  if (filter->radius_axis[axis] >= 0)
    return filter->radius_axis[axis];
  if (filter->radius >= 0)
    return filter->radius;
  if (cnv_filter_info(filter->type)->max_radius > CNV_APERTURE_MAX &&
      explicit_sigma(filter, axis) > 0) /* limited to avoid an overflow; the caller rejects a radius this large */
    return (int)fmin(fmax(ceil(filter->truncate * explicit_sigma(filter, axis)), 0), 1e9);
  return cnv_filter_info(filter->type)->default_radius;
}

double
cnv_filter_sigma(const CnvFilter *filter, int axis)
{
  double sigma = explicit_sigma(filter, axis);

  return sigma > 0 ? sigma : 0.3 * (cnv_filter_radius(filter, axis) - 1) + 0.8;
}

static gboolean
refuse_radius(const CnvFilter *filter, int axis, GError **error)
{
  const int radius = cnv_filter_radius(filter, axis), limit = cnv_filter_info(filter->type)->max_radius;

  if (filter->radius_axis[axis] >= 0 || filter->radius >= 0)
    return cnv_refuse(error, "with radius %d along %c exceeds %d: lower the radius", radius, "xy"[axis], limit);
  return cnv_refuse(error,
                    "with radius %d along %c (truncate %g x sigma %g) exceeds %d: lower sigma or truncate, or set the "
                    "radius",
                    radius, "xy"[axis], filter -> truncate, cnv_filter_sigma(filter, axis), limit);
}

gboolean
cnv_filter_resolve(const CnvFilter *from, CnvResolvedFilter *filter, GError **error)
{
  const int limit = cnv_filter_info(from->type)->max_radius, *radius = filter->radius;
  CnvFilter given = *from;

  *filter = (CnvResolvedFilter){.settings = from, .kernel = from->kernel};
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    if (from->type == CNV_FILTER_MOTION) { /* its radius is along the line, so neither axis has a radius of its own */
      given.radius_axis[axis] = -1;
      given.sigma_axis[axis] = 0;
    }
    filter->radius[axis] = limit > 0 ? cnv_filter_radius(&given, axis) : 0;
    filter->sigma[axis] = cnv_filter_sigma(&given, axis);
    if (radius[axis] > limit)
      return refuse_radius(&given, axis, error);
  }
  if (limit > CNV_APERTURE_MAX || limit == 0)
    return TRUE;
  if (radius[CNV_X] != radius[CNV_Y])
    return cnv_refuse(error, "with radius %d along x and %d along y, which must be equal: set only radius, 1..%d",
                      radius[CNV_X], radius[CNV_Y], limit);
  if (radius[CNV_X] == 0)
    return cnv_refuse(error, "with radius 0 has no taps: set a radius of 1..%d", limit);
  return TRUE;
}

/* ---- nicks ---- */

#define BORDER_NICK(id, nick, text) {CNV_BORDER_##id, nick, text},
const CnvNick cnv_border_nicks[] = {CNV_BORDERS(BORDER_NICK){0, NULL, NULL}};

const CnvNick cnv_gradient_nicks[] = {
    {CNV_GRADIENT_MAGNITUDE, "magnitude", "Root of the sum of the squares of both derivatives"},
    {CNV_GRADIENT_X, "x", "Derivative along rows"},
    {CNV_GRADIENT_Y, "y", "Derivative down columns"},
    {CNV_GRADIENT_DIRECTIONAL, "directional", "Derivative in the direction of angle"},
    {0, NULL, NULL},
};

const CnvNick cnv_planes_nicks[] = {
    {CNV_PLANES_LUMA, "luma", "Y, or grey"},
    {CNV_PLANES_CHROMA, "chroma", "U and V"},
    {CNV_PLANES_ALPHA, "alpha", "Alpha"},
    {CNV_PLANES_RED, "red", "Red"},
    {CNV_PLANES_GREEN, "green", "Green"},
    {CNV_PLANES_BLUE, "blue", "Blue"},
    {CNV_PLANES_COLOR, "color", "All except alpha"},
    {CNV_PLANES_ALL, "all", "All, including alpha"},
    {0, NULL, NULL},
};

const guint cnv_role_planes[] = {
    [CNV_ROLE_PADDING] = 0,           [CNV_ROLE_Y] = CNV_PLANES_LUMA,  [CNV_ROLE_U] = CNV_PLANES_CHROMA,
    [CNV_ROLE_V] = CNV_PLANES_CHROMA, [CNV_ROLE_R] = CNV_PLANES_RED,   [CNV_ROLE_G] = CNV_PLANES_GREEN,
    [CNV_ROLE_B] = CNV_PLANES_BLUE,   [CNV_ROLE_A] = CNV_PLANES_ALPHA,
};

/* Values of CnvFilter.chroma_same. */
const CnvNick cnv_chroma_mode_nicks[] = {
    {CNV_CHROMA_SCALED, "scaled", "Covers the same area of the picture as on luma, so that a blur is round"},
    {CNV_CHROMA_SAME, "same", "The same number of taps as on luma"},
    {0, NULL, NULL},
};

const CnvNick cnv_alpha_mode_nicks[] = {
    {CNV_ALPHA_COPY, "copy", "Copied, unless planes includes alpha"},
    {CNV_ALPHA_FILTER, "filter", "Filtered like the colours"},
    {CNV_ALPHA_PREMULTIPLY, "premultiply", "Filtered, and colours are weighted by it, which avoids fringes"},
    {0, NULL, NULL},
};
