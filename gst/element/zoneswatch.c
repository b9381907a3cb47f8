/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/zoneswatch.h"

#include "messages.h"

#define PERIOD G_TIME_SPAN_SECOND
#define SETTLE_TIME (G_TIME_SPAN_SECOND / 4) /* a changed file is read when it has not changed for this time */

/* State of the thread. */
typedef struct {
  GstCudaConvolveZones *zones;       /* in force at the last check; or NULL */
  GstCudaConvolveFileStamp stamp;    /* at the last check */
  GstCudaConvolveFileStamp rejected; /* of the last version that was rejected; valid if has_rejected */
  gboolean has_rejected;
} Watch;

/* Returns a reference to the zones in force, or NULL. */
static GstCudaConvolveZones *
zones_in_force(GstCudaConvolve *self)
{
  GstCudaConvolveZones *zones;

  GST_OBJECT_LOCK(self);
  zones = self->settings.roi.zones ? gst_cuda_convolve_zones_ref(self->settings.roi.zones) : NULL;
  GST_OBJECT_UNLOCK(self);
  return zones;
}

/* Puts new zones in force, unless the property was set meanwhile. Takes ownership of `zones`. Returns TRUE if the
 * version before had been rejected. */
static gboolean
put_in_force(GstCudaConvolve *self, const GstCudaConvolveZones *old, GstCudaConvolveZones *zones)
{
  gboolean had_error;

  GST_OBJECT_LOCK(self);
  had_error = self->zones_error != NULL;
  if (gst_cuda_convolve_settings_replace_zones(&self->settings, old, &zones))
    g_clear_pointer(&self->zones_error, g_free);
  GST_OBJECT_UNLOCK(self);
  gst_cuda_convolve_zones_unref(zones);
  return had_error;
}

/* Posts a warning and keeps its text for the statistics, unless the property was set meanwhile. Takes ownership of the
 * error. */
static void
report_rejected(GstCudaConvolve *self, const GstCudaConvolveZones *kept, GError *error)
{
  gboolean is_in_force;

  GST_OBJECT_LOCK(self);
  is_in_force = self->settings.roi.zones == kept;
  if (is_in_force) {
    g_free(self->zones_error);
    self->zones_error = g_strdup(error->message);
  }
  GST_OBJECT_UNLOCK(self);
  if (!is_in_force) {
    g_error_free(error);
    return;
  }
  g_prefix_error(&error, "the zones read before stay in force: ");
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_WARNING, error, "reading the zones again");
}

static void
report_read(GstCudaConvolve *self, const GstCudaConvolveZones *zones)
{
  g_autofree char *name = gst_cuda_convolve_file_name("roi-location", gst_cuda_convolve_zones_path(zones));

  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_INFO,
                         g_error_new(CNV_ERROR, CNV_ERROR_SETTINGS, "%s: read again, zones in force: %u", name,
                                     gst_cuda_convolve_zones_n(zones)),
                         "reading the zones again");
}

/* Reads the file. Reports the result, unless a valid file has the same text as before. */
static void
read_again(GstCudaConvolve *self, Watch *watch)
{
  GError *error = NULL;
  GstCudaConvolveZones *zones = gst_cuda_convolve_zones_load(gst_cuda_convolve_zones_path(watch->zones), &error);
  gboolean is_same;

  watch->has_rejected = !zones;
  watch->rejected = watch->stamp;
  if (!zones) {
    report_rejected(self, watch->zones, error);
    return;
  }
  is_same = gst_cuda_convolve_zones_equal(zones, watch->zones);
  gst_cuda_convolve_zones_ref(zones);
  if (put_in_force(self, watch->zones, zones) || !is_same)
    report_read(self, zones);
  gst_cuda_convolve_zones_unref(zones);
}

/* Looks at the file. Returns the time until the next look. */
static gint64
check(GstCudaConvolve *self, Watch *watch)
{
  GstCudaConvolveZones *zones = zones_in_force(self);
  GstCudaConvolveFileStamp stamp;
  gboolean is_settled;

  if (zones != watch->zones) {
    g_clear_pointer(&watch->zones, gst_cuda_convolve_zones_unref);
    watch->zones = zones;
    watch->has_rejected = FALSE;
  } else if (zones) {
    gst_cuda_convolve_zones_unref(zones);
  }
  if (!zones)
    return PERIOD;
  gst_cuda_convolve_file_stamp(gst_cuda_convolve_zones_path(zones), &stamp);
  is_settled = gst_cuda_convolve_file_stamps_equal(&stamp, &watch->stamp);
  watch->stamp = stamp;
  if (watch->has_rejected && gst_cuda_convolve_file_stamps_equal(&stamp, &watch->rejected))
    return PERIOD;
  if (!watch->has_rejected && gst_cuda_convolve_file_stamps_equal(&stamp, gst_cuda_convolve_zones_stamp(zones)))
    return PERIOD;
  if (!is_settled)
    return SETTLE_TIME;
  read_again(self, watch);
  return PERIOD;
}

static gpointer
run(gpointer data)
{
  GstCudaConvolve *self = data;
  Watch watch = {0};
  gint64 wait = PERIOD;

  g_mutex_lock(&self->zones_watch.lock);
  while (self->zones_watch.is_active) {
    gint64 end = g_get_monotonic_time() + wait;

    while (self->zones_watch.is_active && g_cond_wait_until(&self->zones_watch.ended, &self->zones_watch.lock, end))
      ;
    if (!self->zones_watch.is_active)
      break;
    g_mutex_unlock(&self->zones_watch.lock);
    wait = check(self, &watch);
    g_mutex_lock(&self->zones_watch.lock);
  }
  g_mutex_unlock(&self->zones_watch.lock);
  g_clear_pointer(&watch.zones, gst_cuda_convolve_zones_unref);
  return NULL;
}

void
gst_cuda_convolve_zones_watch_init(GstCudaConvolve *self)
{
  g_mutex_init(&self->zones_watch.lock);
  g_cond_init(&self->zones_watch.ended);
}

void
gst_cuda_convolve_zones_watch_clear(GstCudaConvolve *self)
{
  g_mutex_clear(&self->zones_watch.lock);
  g_cond_clear(&self->zones_watch.ended);
  g_free(self->zones_error);
}

gboolean
gst_cuda_convolve_zones_refresh(GstCudaConvolve *self, GError **error)
{
  GstCudaConvolveZones *old = zones_in_force(self), *zones;
  GstCudaConvolveFileStamp stamp;
  gboolean ok = TRUE;

  if (!old)
    return TRUE;
  gst_cuda_convolve_file_stamp(gst_cuda_convolve_zones_path(old), &stamp);
  if (!gst_cuda_convolve_file_stamps_equal(&stamp, gst_cuda_convolve_zones_stamp(old))) {
    zones = gst_cuda_convolve_zones_load(gst_cuda_convolve_zones_path(old), error);
    ok = zones != NULL;
    if (zones)
      put_in_force(self, old, zones);
  }
  gst_cuda_convolve_zones_unref(old);
  return ok;
}

void
gst_cuda_convolve_zones_watch_start(GstCudaConvolve *self)
{
  g_mutex_lock(&self->zones_watch.lock);
  self->zones_watch.is_active = TRUE;
  g_mutex_unlock(&self->zones_watch.lock);
  gst_cuda_convolve_zones_watch_update(self);
}

void
gst_cuda_convolve_zones_watch_stop(GstCudaConvolve *self)
{
  GThread *thread;

  g_mutex_lock(&self->zones_watch.lock);
  self->zones_watch.is_active = FALSE;
  thread = g_steal_pointer(&self->zones_watch.thread);
  g_cond_signal(&self->zones_watch.ended);
  g_mutex_unlock(&self->zones_watch.lock);
  if (thread)
    g_thread_join(thread);
}

void
gst_cuda_convolve_zones_watch_update(GstCudaConvolve *self)
{
  GstCudaConvolveZones *zones = zones_in_force(self);
  GError *error = NULL;

  if (!zones)
    return;
  gst_cuda_convolve_zones_unref(zones);
  g_mutex_lock(&self->zones_watch.lock);
  if (self->zones_watch.is_active && !self->zones_watch.thread)
    self->zones_watch.thread = g_thread_try_new("zones", run, self, &error);
  g_mutex_unlock(&self->zones_watch.lock);
  if (!error)
    return;
  g_prefix_error(&error,
                 "changes of the file of roi-location are not noticed; set the property again after a change: ");
  gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_WARNING, error, "watching the zones file");
}
