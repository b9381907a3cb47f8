/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A filter with the defaults of convolve/filter.h.
 */
#pragma once

#include <convolve/filter.h>

static inline void
test_filter_init(CnvFilter *filter)
{
  *filter = (CnvFilter){
      .type = CNV_FILTER_GAUSSIAN,
      .radius = -1,
      .radius_axis = {-1, -1},
      .truncate = CNV_TRUNCATE_DEFAULT,
      .amount = 1,
      .gradient = CNV_GRADIENT_MAGNITUDE,
      .anchor = {-1, -1},
      .normalize = TRUE,
      .scale = 1,
      .border = CNV_BORDER_REPLICATE,
      .border_color = 0xff000000,
      .fill_color = 0xff000000,
      .planes = CNV_PLANES_COLOR,
      .chroma_radius = -1,
      .alpha_mode = CNV_ALPHA_COPY,
  };
}
