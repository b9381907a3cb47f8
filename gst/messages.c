/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "messages.h"

#include <convolve/status.h>

GST_DEBUG_CATEGORY(gst_cuda_convolve_debug);

/* GStreamer codes of the engine's errors: GST_LIBRARY_ERROR up to CNV_ERROR_UNSUPPORTED, then GST_RESOURCE_ERROR. */
static const int gst_codes[] = {
    [CNV_ERROR_SETTINGS] = GST_LIBRARY_ERROR_SETTINGS,    [CNV_ERROR_UNSUPPORTED] = GST_LIBRARY_ERROR_SETTINGS,
    [CNV_ERROR_NO_DEVICE] = GST_RESOURCE_ERROR_NOT_FOUND, [CNV_ERROR_MEMORY] = GST_RESOURCE_ERROR_NO_SPACE_LEFT,
    [CNV_ERROR_DEVICE] = GST_RESOURCE_ERROR_FAILED,
};

void
gst_cuda_convolve_post(GstElement *element, GstMessageType type, GError *error, const char *doing)
{
  GQuark domain = error->domain;
  int code = error->code;
  char *debug;

  if (error->domain == CNV_ERROR) {
    domain = error->code <= CNV_ERROR_UNSUPPORTED ? GST_LIBRARY_ERROR : GST_RESOURCE_ERROR;
    code = gst_codes[error->code];
  }
  /* gst-launch-1.0 shows only the debug text of an INFO message. */
  debug = type == GST_MESSAGE_INFO ? g_strdup(error->message) : g_strdup_printf("while %s", doing);
  gst_element_message_full(element, type, domain, code, g_strdup(error->message), debug, __FILE__, GST_FUNCTION,
                           __LINE__);
  g_error_free(error);
}

void
gst_cuda_convolve_warn_once(GstElement *element, GHashTable *posted, const char *format, ...)
{
  GError *error;
  va_list args;

  if (!g_hash_table_add(posted, (gpointer)format))
    return;
  va_start(args, format);
  error = g_error_new_valist(CNV_ERROR, CNV_ERROR_SETTINGS, format, args);
  va_end(args);
  gst_cuda_convolve_post(element, GST_MESSAGE_WARNING, error, "collecting the regions of a frame");
}
