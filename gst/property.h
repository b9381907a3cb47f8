/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of the property table, and its description to GObject. Enum types are made at run time from the engine's
 * tables, so that a new filter, border mode, algorithm or engine shows up by itself.
 */
#pragma once

#include <convolve/status.h>
#include <glib-object.h>

/* Those before KIND_DOUBLE are integers in the settings; those after KIND_POLYGONS are taps. */
typedef enum {
  KIND_INT,
  KIND_UINT,
  KIND_BOOLEAN,
  KIND_ENUM,
  KIND_FLAGS,
  KIND_DOUBLE,
  KIND_STRING,
  KIND_FILE,  /* the name of one that holds the kernel */
  KIND_MASK,  /* the name of one that holds a mask */
  KIND_RECTS, /* this and all that follow are arrays */
  KIND_POLYGONS,
  KIND_ROW,
  KIND_KERNEL,
} Kind;

typedef struct {
  Kind kind;
  const char *name, *nick;
  const char *blurb;     /* gst-inspect-1.0 shows it with the default added */
  gsize offset;          /* in GstCudaConvolveSettings */
  GParamFlags mutable;   /* until when a change counts */
  double def;            /* of numbers, enums and flags; all others have none */
  double min, max;       /* of numbers; of a row of taps max is how many it can hold, 0 for as many as an axis */
  const char *type_name; /* of enums and flags, like what follows */
  const void *nicks;     /* rows that begin with a CnvNick, as all of the engine's tables do */
  gsize nick_size;
} Property;

/* A floating GParamSpec. Once for a row: it registers the type. */
GParamSpec *gst_cuda_convolve_property_spec(const Property *row);
