/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "found.h"

#define LOOK "look at the video before you publish it"

/* Returns the number of boxes that overlap none of the boxes in `other`. */
static int
count_alone(const GstVideoRectangle *box, guint n, const GstVideoRectangle *other, guint n_others)
{
  int alone = 0;

  for (guint i = 0; i < n; i++) {
    const GstVideoRectangle *a = &box[i], *end = other + n_others, *b = other;

    while (b < end && !(a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h))
      b++;
    alone += b == end;
  }
  return alone;
}

void
found_add(Found *found, const GstVideoRectangle *box, guint n)
{
  if (!found->latest)
    found->latest = g_array_new(FALSE, FALSE, sizeof(GstVideoRectangle));
  if (found->frames++ > 0) {
    const GstVideoRectangle *before = (const GstVideoRectangle *)found->latest->data;

    found->came += count_alone(box, n, before, found->latest->len);
    found->went += count_alone(before, found->latest->len, box, n);
  }
  found->with += n > 0;
  found->fewer += n > 0 && n < found->latest->len;
  g_array_set_size(found->latest, 0);
  g_array_append_vals(found->latest, box, n);
}

void
found_print(const Found *found, const char *thing, const char *things, double left, const char *area,
            const char *otherwise)
{
  g_autofree char *detail = left < 0 ? g_strdup_printf("the detail in %s was not measured", area)
                                     : g_strdup_printf("%.1f %% of the detail in %s is left", left, area);

  g_print("%s were found in %d of %d frames; %d frames had none, %d had fewer than the frame before; %s\n", things,
          found->with, found->frames, found->frames - found->with, found->fewer, detail);
  if (found->with == 0)
    g_print("%s: " LOOK "\n", otherwise);
  else if (found->went > 0)
    g_print("a %s came and went %d time%s: " LOOK "\n", thing, found->went, found->went == 1 ? "" : "s");
  else if (found->came > 0)
    g_print("a %s came after the first frame, and may have been missed before: " LOOK "\n", thing);
}

void
found_clear(Found *found)
{
  g_clear_pointer(&found->latest, g_array_unref);
}
