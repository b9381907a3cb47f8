/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "photo.h"

#include <gio/gio.h>
#include <gst/tag/tag.h>
#include <string.h>

#include "check.h"
#include "mux.h"

#define JPEG_START "\xff\xd8"
#define PNG_START "\x89PNG\r\n\x1a\n"
#define EXIF "Exif\0" /* C adds the second 0 */
#define ICC "ICC_PROFILE"
#define EXIF_MARKER 0xe1
#define ICC_MARKER 0xe2
#define MAX_SEGMENT (G_MAXUINT16 - 2) /* bytes of a JPEG segment, without its length */
#define MAX_PROFILE (16 << 20)        /* bytes; the largest in use have about 3 MB */
#define ICC_SPACE 16                  /* offset of the name of the colour space in a profile, 4 letters */

struct Photo {
  GstTagList *tags;  /* tags of EXIF, or NULL */
  GByteArray *parts; /* parts of the profile, as they come in JPEG */
  GBytes *profile;   /* or NULL */
};

/* ---- reading */

static void
take_exif(Photo *photo, const guint8 *data, gsize size)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_new_memdup(data, size);

  if (!photo->tags)
    photo->tags = gst_tag_list_from_exif_buffer_with_tiff_header(buffer);
}

/* Keeps a segment. The parts of a profile are numbered, but all writers store them in order. */
static void
take_segment(Photo *photo, guint8 marker, const guint8 *data, gsize size)
{
  if (marker == EXIF_MARKER && size > sizeof EXIF && memcmp(data, EXIF, sizeof EXIF) == 0)
    take_exif(photo, data + sizeof EXIF, size - sizeof EXIF);
  if (marker == ICC_MARKER && size > sizeof ICC + 2 && memcmp(data, ICC, sizeof ICC) == 0)
    g_byte_array_append(photo->parts, data + sizeof ICC + 2, (guint)(size - sizeof ICC - 2));
}

/* Reads segments: FF, a marker, and the length of the rest, including itself. The image begins at DA. */
static void
read_jpeg(Photo *photo, const guint8 *data, gsize size)
{
  for (gsize at = 2; at + 4 <= size && data[at] == 0xff && data[at + 1] != 0xda;) {
    gsize length = GST_READ_UINT16_BE(data + at + 2);

    if (length < 2 || at + 2 + length > size)
      break;
    take_segment(photo, data[at + 1], data + at + 4, length - 2);
    at += 2 + length;
  }
  if (photo->parts->len > 0)
    photo->profile = g_bytes_new(photo->parts->data, photo->parts->len);
}

/* Runs all data through a converter. Returns NULL if that fails, or if the result has more than MAX_PROFILE bytes. */
static GBytes *
convert(GConverter *converter, const guint8 *data, gsize size)
{
  g_autoptr(GInputStream) memory = g_memory_input_stream_new_from_data(data, (gssize)size, NULL);
  g_autoptr(GInputStream) stream = g_converter_input_stream_new(memory, converter);
  g_autofree guint8 *all = g_malloc(MAX_PROFILE);
  gsize n;

  if (!g_input_stream_read_all(stream, all, MAX_PROFILE, &n, NULL, NULL) || n == MAX_PROFILE)
    return NULL;
  return g_bytes_new(all, n);
}

/* Reads iCCP: a name, 0, the method of compression, 0, and the profile. */
static void
read_profile(Photo *photo, const guint8 *data, gsize size)
{
  g_autoptr(GConverter) zlib = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
  const guint8 *end = memchr(data, 0, size);

  if (end && end + 2 < data + size && end[1] == 0 && !photo->profile)
    photo->profile = convert(zlib, end + 2, (gsize)(data + size - end - 2));
}

/* Reads chunks: a length, a type, that many bytes of data, and a checksum. */
static void
read_png(Photo *photo, const guint8 *data, gsize size)
{
  for (gsize at = 8; at + 12 <= size;) {
    gsize length = GST_READ_UINT32_BE(data + at);

    if (length > size - at - 12)
      return;
    if (length > 0 && memcmp(data + at + 4, "eXIf", 4) == 0)
      take_exif(photo, data + at + 8, length);
    else if (memcmp(data + at + 4, "iCCP", 4) == 0)
      read_profile(photo, data + at + 8, length);
    at += 12 + length;
  }
}

static gboolean
begins_with(const guint8 *data, gsize size, const char *start)
{
  return size > strlen(start) && memcmp(data, start, strlen(start)) == 0;
}

Photo *
photo_read(const char *input)
{
  g_autoptr(GMappedFile) file = check_map_input(input);
  const guint8 *data = file ? (const guint8 *)g_mapped_file_get_contents(file) : NULL;
  gsize size = file ? g_mapped_file_get_length(file) : 0;
  Photo *photo;

  if (!begins_with(data, size, JPEG_START) && !begins_with(data, size, PNG_START))
    return NULL;
  photo = g_new0(Photo, 1);
  photo->parts = g_byte_array_new();
  if (begins_with(data, size, JPEG_START))
    read_jpeg(photo, data, size);
  else
    read_png(photo, data, size);
  return photo;
}

void
photo_free(Photo *photo)
{
  g_clear_pointer(&photo->tags, gst_tag_list_unref);
  g_clear_pointer(&photo->profile, g_bytes_unref);
  g_byte_array_unref(photo->parts);
  g_free(photo);
}

GstVideoOrientationMethod
photo_direction(const Photo *photo)
{
  GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_AUTO;

  if (photo->tags)
    gst_video_orientation_from_tag(photo->tags, &direction);
  return direction;
}

/* ---- writing */

static void
append_segment(GByteArray *out, guint8 marker, const char *name, gsize name_size, const guint8 *data, gsize size)
{
  guint8 head[4] = {0xff, marker};

  GST_WRITE_UINT16_BE(head + 2, (guint16)(2 + name_size + size));
  g_byte_array_append(out, head, 4);
  g_byte_array_append(out, (const guint8 *)name, (guint)name_size);
  g_byte_array_append(out, data, (guint)size);
}

static void
append_jpeg_profile(GByteArray *out, const guint8 *profile, gsize size)
{
  gsize capacity = MAX_SEGMENT - sizeof ICC - 2, n = (size + capacity - 1) / capacity;

  for (gsize i = 0; i < n && n < 256; i++) {
    char name[sizeof ICC + 2] = ICC;

    name[sizeof ICC] = (char)(i + 1);
    name[sizeof ICC + 1] = (char)n;
    append_segment(out, ICC_MARKER, name, sizeof name, profile + i * capacity, MIN(capacity, size - i * capacity));
  }
}

/* Returns the checksum of PNG. */
static guint32
crc(const guint8 *data, gsize size)
{
  guint32 sum = G_MAXUINT32;

  for (gsize i = 0; i < size; i++) {
    sum ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

static void
append_chunk(GByteArray *out, const char *type, const char *name, gsize name_size, const guint8 *data, gsize size)
{
  guint8 number[4];
  guint start;

  GST_WRITE_UINT32_BE(number, (guint32)(name_size + size));
  g_byte_array_append(out, number, 4);
  start = out->len;
  g_byte_array_append(out, (const guint8 *)type, 4);
  g_byte_array_append(out, (const guint8 *)name, (guint)name_size);
  g_byte_array_append(out, data, (guint)size);
  GST_WRITE_UINT32_BE(number, crc(out->data + start, out->len - start));
  g_byte_array_append(out, number, 4);
}

static void
append_png_profile(GByteArray *out, const guint8 *profile, gsize size)
{
  static const char name[] = "ICC profile\0"; /* includes the 0 after the name, and the method of compression */
  g_autoptr(GConverter) zlib = G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB, -1));
  g_autoptr(GBytes) compressed = convert(zlib, profile, size);

  if (compressed)
    append_chunk(out, "iCCP", name, sizeof name, g_bytes_get_data(compressed, NULL), g_bytes_get_size(compressed));
}

/* Returns TRUE if a written picture is grey: a .jpg by its components, a .png by its colour type. */
static gboolean
is_grey(const guint8 *data, gsize size, gboolean png)
{
  if (png)
    return size > 25 && (data[25] & 2) == 0;
  for (gsize at = 2; at + 10 <= size && data[at] == 0xff; at += 2 + GST_READ_UINT16_BE(data + at + 2))
    if (data[at + 1] >= 0xc0 && data[at + 1] <= 0xcf && data[at + 1] != 0xc4 && data[at + 1] != 0xc8 &&
        data[at + 1] != 0xcc)
      return data[at + 9] == 1;
  return FALSE;
}

static void
append_profile(const Photo *photo, GByteArray *out, gboolean grey, gboolean png)
{
  gsize size;
  const guint8 *profile = photo->profile ? g_bytes_get_data(photo->profile, &size) : NULL;

  if (!profile || size < ICC_SPACE + 4)
    return;
  if (memcmp(profile + ICC_SPACE, grey ? "GRAY" : "RGB ", 4) != 0)
    g_print("colour profile: left out, because it is for colours %.4s\n", (const char *)profile + ICC_SPACE);
  else if (png)
    append_png_profile(out, profile, size);
  else
    append_jpeg_profile(out, profile, size);
}

static void
append_exif(const Photo *photo, GByteArray *out, gboolean hides, gboolean png)
{
  g_autoptr(GstTagList) tags = photo->tags ? gst_tag_list_copy(photo->tags) : NULL;
  g_autoptr(GstBuffer) exif = NULL;
  GstMapInfo map;

  if (!tags)
    return;
  gst_tag_list_remove_tag(tags, GST_TAG_IMAGE_ORIENTATION); /* the pixels are rotated already */
  if (mux_has_location(tags))
    mux_tell_location(hides, TRUE, "");
  if (hides)
    mux_drop_location(tags);
  exif = gst_tag_list_to_exif_buffer_with_tiff_header(tags);
  if (!exif || !gst_buffer_map(exif, &map, GST_MAP_READ))
    return;
  if (png)
    append_chunk(out, "eXIf", "", 0, map.data, map.size);
  else if (map.size + sizeof EXIF <= MAX_SEGMENT)
    append_segment(out, EXIF_MARKER, EXIF, sizeof EXIF, map.data, map.size);
  gst_buffer_unmap(exif, &map);
}

/* Returns the offset at which metadata is inserted: after IHDR in .png, and after JFIF, if any, in .jpg. */
static gsize
place_of_notes(const guint8 *data, gsize size, gboolean png)
{
  gsize place = png ? 33 : 2;

  if (!png && size > 6 && data[2] == 0xff && data[3] == 0xe0)
    place += 2 + GST_READ_UINT16_BE(data + 4);
  return MIN(place, size);
}

gboolean
photo_write(const Photo *photo, const char *path, gboolean hides)
{
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_autoptr(GError) error = NULL;
  g_autofree char *data = NULL;
  const guint8 *bytes;
  gboolean png;
  gsize size, place;

  if (!g_file_get_contents(path, &data, &size, &error)) {
    g_printerr("%s\n", error->message);
    return FALSE;
  }
  bytes = (const guint8 *)data;
  png = begins_with(bytes, size, PNG_START);
  place = place_of_notes(bytes, size, png);
  g_byte_array_append(out, bytes, (guint)place);
  append_exif(photo, out, hides, png);
  append_profile(photo, out, is_grey(bytes, size, png), png);
  g_byte_array_append(out, bytes + place, (guint)(size - place));
  if (g_file_set_contents(path, (const char *)out->data, out->len, &error))
    return TRUE;
  g_printerr("%s\n", error->message);
  return FALSE;
}
