/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fuzzing of zones files (gst/regions/zones.c). An input is the contents of a file. Meson builds this with replay.c,
 * which runs the files of corpus/zones/; tests/README.md has the commands for libFuzzer.
 */
#include <math.h>

#include "regions/polygon.h"
#include "regions/zones.h"
#include "unit/fuzz.h"

#define NAME "a name"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  return 0;
}

static void
check_numbers(const double *numbers, guint n)
{
  for (guint i = 0; i < n; i++)
    CHECK(numbers[i] >= -1 && numbers[i] <= 3); /* widths reach from -1 to 2 */
}

static void
check_zones(const GstCudaConvolveZones *zones)
{
  guint n_points = 0;

  CHECK(gst_cuda_convolve_zones_n(zones) >= 1 && gst_cuda_convolve_zones_n(zones) <= CNV_MAX_REGIONS);
  CHECK(strcmp(gst_cuda_convolve_zones_path(zones), NAME) == 0);
  for (guint i = 0; i < gst_cuda_convolve_zones_n(zones); i++) {
    const GstCudaConvolveZone *zone = gst_cuda_convolve_zones_get(zones, i);

    CHECK(*zone->name && (!zone->type || *zone->type));
    check_numbers(zone->rect, 4);
    CHECK(zone->rect[2] > 0 && zone->rect[3] > 0 && zone->rect[0] < 1 && zone->rect[1] < 1);
    if (zone->points) {
      CHECK(zone->points->len >= 6 && zone->points->len % 2 == 0);
      check_numbers((const double *)zone->points->data, zone->points->len);
      n_points += zone->points->len / 2;
    }
    CHECK(zone->period == GST_CUDA_CONVOLVE_ZONE_ALWAYS || zone->from != zone->to);
    gst_cuda_convolve_zone_is_in_force(zone, 0, FALSE);
  }
  CHECK(n_points <= GST_CUDA_CONVOLVE_POLYGON_POINTS);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = fuzz_text(data, size);
  GError *error = NULL;
  GstCudaConvolveZones *zones = gst_cuda_convolve_zones_parse(text, size, NAME, &error);

  CHECK((zones == NULL) == (error != NULL));
  if (zones) {
    check_zones(zones);
    gst_cuda_convolve_zones_unref(zones);
  } else {
    CHECK(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS) && g_utf8_validate(error->message, -1, NULL));
    CHECK(g_str_has_prefix(error->message, "roi-location=" NAME ": ") && strlen(error->message) > 30);
    CHECK(strlen(error->message) < 1000);
  }
  g_clear_error(&error);
  free(text);
  return 0;
}
