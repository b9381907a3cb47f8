/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plugin: one element.
 */
#include "config.h"

#include "gstcudaconvolve-private.h"

static gboolean
plugin_init(GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER(cudaconvolve, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudaconvolve,
                  "Convolves video on an NVIDIA GPU, or without one on the CPU", plugin_init, VERSION, "LGPL", PACKAGE,
                  PACKAGE_ORIGIN)
