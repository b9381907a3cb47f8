/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "messages.h"

#include <convolve/status.h>

GST_DEBUG_CATEGORY(gst_cuda_convolve_debug);

/* The engine's errors as GStreamer's. */
static const struct {
  CnvErrorCode code;
  GQuark (*domain)(void);
  int gst_code;
} error_rows[] = {
    {CNV_ERROR_SETTINGS, gst_library_error_quark, GST_LIBRARY_ERROR_SETTINGS},
    {CNV_ERROR_UNSUPPORTED, gst_library_error_quark, GST_LIBRARY_ERROR_SETTINGS},
    {CNV_ERROR_NO_DEVICE, gst_resource_error_quark, GST_RESOURCE_ERROR_NOT_FOUND},
    {CNV_ERROR_MEMORY, gst_resource_error_quark, GST_RESOURCE_ERROR_NO_SPACE_LEFT},
    {CNV_ERROR_DEVICE, gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED},
};

void
gst_cuda_convolve_post(GstElement *element, GstMessageType type, GError *error, const char *doing)
{
  GQuark domain = error->domain;
  int code = error->code;
  char *debug;

  for (gsize i = 0; error->domain == CNV_ERROR && i < G_N_ELEMENTS(error_rows); i++)
    if ((int)error_rows[i].code == error->code) {
      domain = error_rows[i].domain();
      code = error_rows[i].gst_code;
    }
  /* gst-launch-1.0 shows only the debug text of an INFO message. */
  debug = type == GST_MESSAGE_INFO ? g_strdup(error->message) : g_strdup_printf("while %s", doing);
  gst_element_message_full(element, type, domain, code, g_strdup(error->message), debug, __FILE__, GST_FUNCTION,
                           __LINE__);
  g_error_free(error);
}

void
gst_cuda_convolve_warn_once(GstElement *element, GHashTable *told, const char *format, ...)
{
  GError *error;
  va_list args;

  if (!g_hash_table_add(told, (gpointer)format))
    return;
  va_start(args, format);
  error = g_error_new_valist(CNV_ERROR, CNV_ERROR_SETTINGS, format, args);
  va_end(args);
  gst_cuda_convolve_post(element, GST_MESSAGE_WARNING, error, "collecting the regions of a frame");
}
