/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "properties/property.h"

#include <gst/gst.h>

static const CnvNick *
next_nick(const Property *row, const CnvNick *nick)
{
  nick = nick ? (const CnvNick *)((const char *)nick + row->nick_size) : row->nicks;
  return nick->nick ? nick : NULL;
}

/* Registers an enum or flags type. GLib keeps the values forever. GFlagsValue differs from GEnumValue only in the sign
 * of a member. */
static GType
register_type(const Property *row)
{
  GArray *list = g_array_new(TRUE, TRUE, sizeof(GEnumValue));
  gpointer values;
  GType type;

  for (const CnvNick *nick = next_nick(row, NULL); nick; nick = next_nick(row, nick))
    g_array_append_val(list, ((GEnumValue){nick->value, nick->blurb, nick->nick}));
  values = g_array_free(list, FALSE);
  type = (row->kind == KIND_ENUM ? g_enum_register_static(row->type_name, values)
                                 : g_flags_register_static(row->type_name, values));
  gst_type_mark_as_plugin_api(type, 0);
  return type;
}

/* Returns the default as it is written in a pipeline description. */
static char *
default_text(const Property *row)
{
  const CnvNick *nick = row->nicks;

  if (row->kind > KIND_DOUBLE)
    return g_strdup("none");
  if (row->kind == KIND_BOOLEAN)
    return g_strdup(row->def != 0 ? "true" : "false");
  while (nick && nick->value != (int)row->def)
    nick = next_nick(row, nick);
  if (nick)
    return g_strdup(nick->nick);
  return row->max > G_MAXINT ? g_strdup_printf("0x%08x", (guint)row->def) : g_strdup_printf("%g", row->def);
}

GParamSpec *
gst_cuda_convolve_property_spec(const Property *row)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_NAME | G_PARAM_STATIC_NICK | row->mutable;
  g_autofree char *default_value = default_text(row);
  g_autofree char *blurb = g_strdup_printf("%s (default %s)", row->blurb, default_value);
  const char *n = row->name, *nick = row->nick;

  switch (row->kind) {
  case KIND_INT:
    return g_param_spec_int(n, nick, blurb, (int)row->min, (int)row->max, (int)row->def, flags);
  case KIND_UINT:
    return g_param_spec_uint(n, nick, blurb, (guint)row->min, (guint)row->max, (guint)row->def, flags);
  case KIND_DOUBLE:
    return g_param_spec_double(n, nick, blurb, row->min, row->max, row->def, flags);
  case KIND_BOOLEAN:
    return g_param_spec_boolean(n, nick, blurb, row->def != 0, flags);
  case KIND_ENUM:
    return g_param_spec_enum(n, nick, blurb, register_type(row), (int)row->def, flags);
  case KIND_FLAGS:
    return g_param_spec_flags(n, nick, blurb, register_type(row), (guint)row->def, flags);
  case KIND_STRING:
  case KIND_FILE:
  case KIND_MASK:
  case KIND_ZONES:
    return g_param_spec_string(n, nick, blurb, NULL, flags);
  default:
    return gst_param_spec_array(n, nick, blurb, NULL, flags);
  }
}
