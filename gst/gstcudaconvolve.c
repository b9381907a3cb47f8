/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plugin, and the class of its element: properties, states, contexts. README.md is the manual.
 */

/**
 * SECTION:element-cudaconvolve
 * @title: cudaconvolve
 * @short_description: video convolution on an NVIDIA GPU or on the CPU
 *
 * Blurs, sharpens and otherwise convolves video on an NVIDIA GPU or, if there is none, on the CPU. Each plane is
 * filtered in its own format, without colour conversion, in system memory or in CUDA memory.
 * #GstCudaConvolve:temporal-radius and kernels of several frames also filter over time. #GstCudaConvolve:roi-source
 * limits the filter to regions.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve radius=8 ! videoconvert ! autovideosink
 * ]| A gaussian blur.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve filter=sobel absolute=true ! videoconvert ! autovideosink
 * ]| Edges.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve filter=custom kernel="<<0,-1,0>,<-1,5,-1>,<0,-1,0>>" ! fakesink
 * ]| A custom kernel.
 * |[
 * gst-launch-1.0 videotestsrc ! cudaconvolve roi-source=property roi="<<40,40,80,60>>" radius=20 ! fakesink
 * ]| A blur of one rectangle.
 *
 * Since: 0.1
 */
#include <string.h>

#include "config.h"

#include "element/dispatch.h"
#include "element/frames.h"
#include "element/inflight.h"
#include "element/unused.h"
#include "element/zoneswatch.h"
#include "gstcudaconvolve-private.h"
#include "memory/allocation.h"
#include "memory/devicememory.h"
#include "messages.h"
#include "time/history.h"

/* GStreamer's own functions save and load presets. GstCudaConvolve.prs contains the installed ones. */
G_DEFINE_TYPE_WITH_CODE(GstCudaConvolve, gst_cuda_convolve, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, NULL))

GST_ELEMENT_REGISTER_DEFINE(cudaconvolve, "cudaconvolve", GST_RANK_NONE, GST_TYPE_CUDA_CONVOLVE)

/* Ids of the read-only properties; smaller ids are in the table of settings.c. */
static guint stats_id, unused_id, effective_id;

/* Reads the value before it takes the lock, because the value can be a file. */
static void
set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(object);
  gpointer slot = GSIZE_TO_POINTER(gst_cuda_convolve_property_slot(id));
  gboolean is_zones = slot == GSIZE_TO_POINTER(offsetof(GstCudaConvolveSettings, roi.zones));
  GstCudaConvolveSettings read;
  GError *error = NULL;

  gst_cuda_convolve_settings_init(&read);
  gst_cuda_convolve_property_read(&read, id, value, &error);
  GST_OBJECT_LOCK(self);
  if (error) {
    g_hash_table_insert(self->refused, slot, g_strdup(error->message));
  } else {
    gst_cuda_convolve_property_swap(&self->settings, &read, id);
    g_hash_table_remove(self->refused, slot);
    if (is_zones)
      g_clear_pointer(&self->zones_error, g_free);
  }
  GST_OBJECT_UNLOCK(self);
  gst_cuda_convolve_settings_clear(&read);
  if (error)
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_WARNING, error, "setting a property, which stays as it was");
  if (is_zones)
    gst_cuda_convolve_zones_watch_update(self);
}

/* Call with the object lock held. */
static GstStructure *
make_stats(const GstCudaConvolve *self)
{
  const CnvSessionStats *session = &self->stats.session;
  CnvPlan *plan = self->stats.plan;
  g_autoptr(GString) algorithms = g_string_new(NULL), taps = g_string_new(NULL), terms = g_string_new(NULL);
  g_autoptr(GString) thresholds = g_string_new(NULL);

  if (plan)
    cnv_plan_describe(plan, algorithms, taps, terms);
  for (int p = 0; plan && p < self->stats.image.format->n_planes; p++)
    g_string_append_printf(thresholds, "%s%.5g", p > 0 ? "," : "", session->threshold[p]);
  return gst_structure_new(
      "cudaconvolve-stats", "frames", G_TYPE_UINT64, self->stats.frames, "dropped", G_TYPE_UINT64, self->stats.dropped,
      "backend", G_TYPE_STRING, plan ? cnv_plan_backend(plan)->name : "", "device", G_TYPE_STRING,
      self->engine.device_name ? self->engine.device_name : "", "algorithm", G_TYPE_STRING, algorithms->str, "taps",
      G_TYPE_STRING, taps->str, "terms", G_TYPE_STRING, terms->str, "temporal-threshold", G_TYPE_STRING,
      thresholds->str, "history", G_TYPE_UINT, self->stats.n_history, "regions", G_TYPE_UINT, self->stats.n_regions,
      "compute-time-us", G_TYPE_DOUBLE, session->compute_us, "upload-time-us", G_TYPE_DOUBLE, session->upload_us,
      "download-time-us", G_TYPE_DOUBLE, session->download_us, "bytes-uploaded", G_TYPE_UINT64, session->bytes_uploaded,
      "bytes-downloaded", G_TYPE_UINT64, session->bytes_downloaded, "zones", G_TYPE_UINT,
      gst_cuda_convolve_zones_n(self->settings.roi.zones), "zones-error", G_TYPE_STRING,
      self->zones_error ? self->zones_error : "", NULL);
}

static void
get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(object);

  GST_OBJECT_LOCK(self);
  if (id == stats_id)
    g_value_take_boxed(value, make_stats(self));
  else if (id == unused_id)
    g_value_take_boxed(value, self->stats.plan ? gst_cuda_convolve_list_unused(GST_ELEMENT(self), &self->settings,
                                                                               &self->stats.image, self->stats.plan)
                                               : NULL);
  else if (id == effective_id)
    g_value_take_boxed(value, gst_cuda_convolve_list_effective(&self->settings));
  else
    gst_cuda_convolve_property_get(&self->settings, id, value);
  GST_OBJECT_UNLOCK(self);
}

/* Rejects settings that cannot work with any caps: a rejected value, a filter without taps, contradicting regions. */
static gboolean
check_settings(GstCudaConvolve *self, const GstCudaConvolveSettings *settings, GError **error)
{
  GHashTableIter iter;
  gpointer message = NULL;

  GST_OBJECT_LOCK(self);
  g_hash_table_iter_init(&iter, self->refused);
  if (g_hash_table_iter_next(&iter, NULL, &message))
    g_set_error_literal(error, CNV_ERROR, CNV_ERROR_SETTINGS, message);
  GST_OBJECT_UNLOCK(self);
  return !message && gst_cuda_convolve_roi_check(&settings->roi, &settings->filter, error) &&
         cnv_filter_check(&settings->filter, error);
}

static void
reset(GstCudaConvolve *self)
{
  gst_cuda_convolve_recipe_clear(&self->recipe);
  gst_cuda_convolve_recipe_init(&self->recipe, GST_ELEMENT(self), &self->settings, &self->caps);
  GST_OBJECT_LOCK(self);
  self->time.latency = self->time.frame_time = 0;
  self->time.position = GST_CLOCK_TIME_NONE;
  cnv_plan_unref(self->stats.plan);
  memset(&self->stats, 0, sizeof(self->stats));
  g_clear_pointer(&self->engine.device_name, g_free);
  GST_OBJECT_UNLOCK(self);
}

static gboolean
start(GstBaseTransform *trans)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);
  GstCudaConvolveSettings settings;
  GError *error = NULL;
  gboolean ok;

  reset(self);
  ok = gst_cuda_convolve_zones_refresh(self, &error);
  GST_OBJECT_LOCK(self);
  gst_cuda_convolve_settings_copy(&settings, &self->settings);
  self->no_device_output = FALSE;
  GST_OBJECT_UNLOCK(self);
  self->in_flight.n_wanted = settings.frames_in_flight;
  ok = ok && check_settings(self, &settings, &error) &&
       gst_cuda_convolve_engine_open(&self->engine, GST_ELEMENT(self), &settings, &error);
  gst_cuda_convolve_settings_clear(&settings);
  if (ok)
    gst_cuda_convolve_zones_watch_start(self);
  else
    gst_cuda_convolve_post(GST_ELEMENT(self), GST_MESSAGE_ERROR, error, "starting");
  return ok;
}

/* Keeps the statistics until the next start. */
static gboolean
stop(GstBaseTransform *trans)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(trans);

  gst_cuda_convolve_zones_watch_stop(self);
  gst_cuda_convolve_drop(self);
  gst_cuda_convolve_history_leave(self);
  gst_cuda_convolve_recipe_forget(&self->recipe);
  gst_cuda_convolve_engine_close(&self->engine, GST_ELEMENT(self));
  return TRUE;
}

/* ---- caps ---- */

static GstCaps *
transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE_CAST(trans);
  g_autoptr(GstCaps) all = NULL;
  const CnvBackend *backend;
  gboolean takes, gives; /* the pads support device memory: as the engine does, or before the start as it would */
  const char *name;
  GstCaps *result;

  GST_OBJECT_LOCK(self);
  name = gst_cuda_convolve_backend_name(self->settings.backend);
  backend = name ? cnv_backend_find(name) : cnv_backends[0];
  takes = self->engine.session ? self->engine.takes_device : backend && backend->takes_device_memory;
  gives = takes && !self->no_device_output;
  GST_OBJECT_UNLOCK(self);
  all = gst_cuda_convolve_caps_transform(caps, takes, direction == GST_PAD_SRC ? takes : gives);
  result = filter ? gst_caps_intersect_full(filter, all, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref(all);
  GST_DEBUG_OBJECT(trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result);
  return result;
}

/* Prefers the same memory on both pads, which saves a copy, to the preference of the peer. */
static GstCaps *
fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  for (guint i = 0; i < gst_caps_get_size(othercaps); i++)
    if (gst_cuda_convolve_caps_in_device(othercaps, i) == gst_cuda_convolve_caps_in_device(caps, 0)) {
      GstCaps *same = gst_caps_copy_nth(othercaps, i);

      gst_caps_unref(othercaps);
      return gst_caps_fixate(same);
    }
  return gst_caps_fixate(othercaps);
}

static void
set_context(GstElement *element, GstContext *context)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(element);
  struct _GstCudaContext *found = NULL;
  int device;

  GST_OBJECT_LOCK(self);
  device = self->settings.device;
  GST_OBJECT_UNLOCK(self);
  if (gst_cuda_convolve_device)
    gst_cuda_convolve_device->set_context(element, context, device, &found);
  GST_OBJECT_LOCK(self);
  if (!self->engine.context)
    self->engine.context = g_steal_pointer(&found);
  GST_OBJECT_UNLOCK(self);
  gst_clear_object(&found);
  GST_ELEMENT_CLASS(gst_cuda_convolve_parent_class)->set_context(element, context);
}

static void
finalize(GObject *object)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE(object);

  reset(self);
  gst_clear_object(&self->engine.context);
  gst_cuda_convolve_settings_clear(&self->settings);
  g_hash_table_unref(self->refused);
  gst_cuda_convolve_recipe_clear(&self->recipe);
  gst_cuda_convolve_in_flight_clear(self);
  gst_cuda_convolve_zones_watch_clear(self);
  G_OBJECT_CLASS(gst_cuda_convolve_parent_class)->finalize(object);
}

/* Offers CUDA memory if this process can use a GPU. */
static void
add_pads(GstElementClass *klass)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  gboolean device = cuda && cuda->probe(-1, NULL) && gst_cuda_convolve_device->init();
  g_autoptr(GstCaps) caps = gst_cuda_convolve_caps_template(device);

  gst_element_class_add_pad_template(klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}

static void
gst_cuda_convolve_class_init(GstCudaConvolveClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS(klass);

  GST_DEBUG_CATEGORY_INIT(gst_cuda_convolve_debug, "cudaconvolve", 0, "video convolution");
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  stats_id = gst_cuda_convolve_properties_install(object_class);
  g_object_class_install_property(
      object_class, stats_id,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Statistics since the start: frames filtered and dropped, backend, device, frames held by a filter over "
          "time, mean times per frame in microseconds, bytes copied. Of the last frame: algorithm, taps, number of "
          "terms and temporal threshold of each plane, regions. Of roi-location: zones, and why the file's last "
          "version is not in force",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  unused_id = stats_id + 1;
  g_object_class_install_property(
      object_class, unused_id,
      g_param_spec_boxed(
          "unused", "Unused properties",
          "Properties that had no effect on the last frames because of other settings: a field for each, with the "
          "reason. Not set before the first caps",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  effective_id = unused_id + 1;
  g_object_class_install_property(
      object_class, effective_id,
      g_param_spec_boxed("effective", "Effective values",
                         "Values in force of the properties that are automatic (-1 or 0): a field for each",
                         GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  element_class->set_context = GST_DEBUG_FUNCPTR(set_context);
  gst_element_class_set_static_metadata(element_class, "CUDA video convolution", "Filter/Effect/Video",
                                        "Blurs, sharpens and otherwise convolves video on an NVIDIA GPU or on the CPU, "
                                        "without colour conversion",
                                        AUTHOR);
  add_pads(element_class);

  trans_class->start = GST_DEBUG_FUNCPTR(start);
  trans_class->stop = GST_DEBUG_FUNCPTR(stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
  gst_cuda_convolve_allocation_class_init(trans_class);
  gst_cuda_convolve_frames_class_init(trans_class);
  gst_cuda_convolve_dispatch_class_init(trans_class);
}

static void
gst_cuda_convolve_init(GstCudaConvolve *self)
{
  gst_cuda_convolve_settings_init(&self->settings);
  self->refused = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  gst_cuda_convolve_recipe_init(&self->recipe, GST_ELEMENT(self), &self->settings, &self->caps);
  gst_cuda_convolve_in_flight_init(self);
  gst_cuda_convolve_zones_watch_init(self);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
  /* Frames that fill a gap are neutral, and so is their convolution. */
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self), TRUE);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudaconvolve,
                  "Video convolution on an NVIDIA GPU or on the CPU", gst_element_register_cudaconvolve, VERSION,
                  "LGPL", PACKAGE, PACKAGE_ORIGIN)
