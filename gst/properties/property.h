/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of the property table, and its GParamSpec. Enum types are registered at run time from the tables of the
 * engine, so that a new filter, border mode, algorithm or engine appears automatically.
 */
#pragma once

#include <convolve/status.h>
#include <glib-object.h>

/* Kinds before KIND_DOUBLE are integers in the settings; kinds after KIND_POLYGONS are taps. */
typedef enum {
  KIND_INT,
  KIND_UINT,
  KIND_BOOLEAN,
  KIND_ENUM,
  KIND_FLAGS,
  KIND_DOUBLE,
  KIND_STRING,
  KIND_FILE,  /* path of a file with a kernel */
  KIND_MASK,  /* path of a file with a mask */
  KIND_ZONES, /* path of a file with zones */
  KIND_RECTS, /* an array, like all kinds after it */
  KIND_POLYGONS,
  KIND_ROW,
  KIND_KERNEL,
} Kind;

typedef struct {
  Kind kind;
  const char *name, *nick;
  const char *blurb;     /* gst-inspect-1.0 shows it, followed by the default */
  gsize offset;          /* in GstCudaConvolveSettings */
  GParamFlags mutable;   /* in which states it can be changed */
  double def;            /* of numbers, enums and flags; other kinds have none */
  double min, max;       /* range of numbers. For a row of taps, max is the most taps; 0: the limit of an axis */
  const char *type_name; /* for enums and flags, like the members below */
  const void *nicks;     /* rows that begin with a CnvNick, like all tables of the engine */
  gsize nick_size;
} Property;

/* Returns a floating GParamSpec. Call it once per row, because it registers the type. */
GParamSpec *gst_cuda_convolve_property_spec(const Property *row);
