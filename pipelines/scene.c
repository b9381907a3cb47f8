/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "scene.h"

#define SECONDS_THERE_AND_BACK 24

/* Lengths are in parts of the height, 720 of them, so that every size shows the same. */
typedef struct {
  int width, height; /* pixels */
  guint8 *rgb;
  double unit; /* pixels a length of 1 */
  GRand *rand;
} Canvas;

struct Scene {
  int width, height, frame_width;
  guint8 *luma, *chroma;
};

typedef struct {
  double r, g, b;
} Color;

typedef enum { RECTANGLE, ELLIPSE } Shape;

static const struct {
  double left;
  Color color;
} cars[] = {{420, {190, 44, 40}}, {1180, {44, 84, 160}}, {1960, {214, 170, 40}}};

/* Of a car's number plate, from the car's left edge. */
#define PLATE_LEFT 74
#define PLATE_TOP 640
#define PLATE_WIDTH 62
#define PLATE_HEIGHT 18

static double
between(Canvas *canvas, double low, double high)
{
  return g_rand_double_range(canvas->rand, low, high);
}

/* The part of the pixel around (x, y) that a shape of half the sizes a and b about the origin covers: its edges are
 * smooth. */
static double
cover(Shape shape, double x, double y, double a, double b)
{
  double distance = shape == RECTANGLE ? fmax(fabs(x) - a, fabs(y) - b) : (hypot(x / a, y / b) - 1) * fmin(a, b);

  return CLAMP(0.5 - distance, 0, 1);
}

/* Grain is how much the pixels differ from each other, as bricks and asphalt do. */
static void
paint(Canvas *canvas, Shape shape, double left, double top, double width, double height, Color color, double grain)
{
  double a = width * canvas->unit / 2, b = height * canvas->unit / 2;
  double cx = left * canvas->unit + a, cy = top * canvas->unit + b;
  int right = MIN(canvas->width, (int)(cx + a) + 2), bottom = MIN(canvas->height, (int)(cy + b) + 2);

  for (int y = MAX(0, (int)(cy - b) - 1); y < bottom; y++)
    for (int x = MAX(0, (int)(cx - a) - 1); x < right; x++) {
      guint8 *pixel = canvas->rgb + 3 * ((gsize)y * canvas->width + x);
      double part = cover(shape, x + 0.5 - cx, y + 0.5 - cy, a, b), noise = between(canvas, 1 - grain, 1 + grain);
      const double color_of[3] = {color.r, color.g, color.b};

      for (int i = 0; i < 3; i++)
        pixel[i] = (guint8)CLAMP(pixel[i] * (1 - part) + color_of[i] * noise * part + 0.5, 0, 255);
    }
}

/* Letters of 3 x 5 dots, a digit a row from the top, octal. */
static void
paint_text(Canvas *canvas, const char *text, double left, double top, double dot, Color color)
{
  static const struct {
    char letter;
    guint16 rows;
  } letters[] = {{'A', 025755}, {'C', 074447}, {'E', 074647}, {'F', 074644}, {'L', 044447}, {'N', 065555},
                 {'O', 075557}, {'P', 075744}, {'V', 055552}, {'1', 026227}, {'2', 071747}, {'5', 074717}};

  for (; *text; text++, left += 4 * dot)
    for (gsize i = 0; i < G_N_ELEMENTS(letters); i++)
      for (int bit = 0; letters[i].letter == *text && bit < 15; bit++)
        if (letters[i].rows >> (14 - bit) & 1)
          paint(canvas, RECTANGLE, left + bit % 3 * dot, top + bit / 3 * dot, dot, dot, color, 0);
}

static void
paint_sky(Canvas *canvas)
{
  for (int i = 0; i < 72; i++) {
    double t = i / 71.0;

    paint(canvas, RECTANGLE, 0, 10 * i, canvas->width / canvas->unit, 11,
          (Color){30 + 215 * t, 36 + 110 * t, 92 + 20 * t}, 0);
  }
  for (int i = 0; i < 220; i++)
    paint(canvas, ELLIPSE, between(canvas, 0, canvas->width / canvas->unit), between(canvas, 0, 300), 3, 3,
          (Color){255, 250, 230}, 0);
  paint(canvas, ELLIPSE, 900, 50, 110, 110, (Color){250, 240, 205}, 0.03);
  for (int i = 0; i < 9; i++)
    paint(canvas, ELLIPSE, 915 + between(canvas, 0, 65), 70 + between(canvas, 0, 55), 14, 12, (Color){222, 210, 172},
          0.03);
}

static void
paint_house(Canvas *canvas, double left, double width, double height)
{
  static const Color walls[] = {{92, 62, 58}, {66, 74, 98}, {104, 92, 74}, {60, 82, 78}, {84, 66, 96}};
  Color wall = walls[g_rand_int_range(canvas->rand, 0, G_N_ELEMENTS(walls))];
  double top = 600 - height;

  paint(canvas, RECTANGLE, left, top, width, height, wall, 0.12);
  paint(canvas, RECTANGLE, left - 3, top - 6, width + 6, 8, (Color){34, 32, 40}, 0);
  for (double y = top + 16; y < 560; y += 34)
    for (double x = left + 10; x + 20 < left + width; x += 28) {
      gboolean lit = between(canvas, 0, 1) < 0.55;

      paint(canvas, RECTANGLE, x, y, 16, 22, lit ? (Color){255, between(canvas, 190, 235), 120} : (Color){26, 30, 46},
            0.03);
      paint(canvas, RECTANGLE, x + 7, y, 2, 22, wall, 0);
      paint(canvas, RECTANGLE, x, y + 10, 16, 2, wall, 0);
    }
}

static void
paint_tree(Canvas *canvas, double x)
{
  paint(canvas, RECTANGLE, x - 6, 520, 12, 100, (Color){58, 42, 32}, 0.2);
  for (int i = 0; i < 320; i++) {
    double angle = between(canvas, 0, 2 * G_PI), away = 62 * sqrt(between(canvas, 0, 1)),
           light = between(canvas, 0.5, 1.3);

    paint(canvas, ELLIPSE, x - 5 + away * cos(angle), 480 + 0.9 * away * sin(angle), 10, 7,
          (Color){52 * light, 104 * light, 48 * light}, 0.05);
  }
}

static void
paint_car(Canvas *canvas, double x, Color color)
{
  paint(canvas, ELLIPSE, x + 30, 588, 150, 80, color, 0.02);
  paint(canvas, ELLIPSE, x + 48, 596, 114, 56, (Color){150, 190, 215}, 0.02);
  paint(canvas, RECTANGLE, x, 622, 210, 44, color, 0.02);
  for (int side = 0; side < 2; side++) {
    paint(canvas, ELLIPSE, x + 22 + 122 * side, 640, 44, 44, (Color){22, 22, 24}, 0.1);
    paint(canvas, ELLIPSE, x + 34 + 122 * side, 652, 20, 20, (Color){190, 190, 196}, 0.05);
  }
  paint(canvas, RECTANGLE, x + PLATE_LEFT, PLATE_TOP, PLATE_WIDTH, PLATE_HEIGHT, (Color){244, 244, 236}, 0);
  paint_text(canvas, "CNV 512", x + PLATE_LEFT + 4, PLATE_TOP + 3, 2.1, (Color){18, 18, 40});
}

static void
paint_sign(Canvas *canvas, double x, double y, const char *text, double dot, Color color)
{
  double width = (4 * (double)strlen(text) + 1) * dot;

  paint(canvas, RECTANGLE, x - dot, y - dot, width + 2 * dot, 9 * dot, (Color){245, 240, 230}, 0);
  paint(canvas, RECTANGLE, x, y, width, 7 * dot, color, 0);
  paint_text(canvas, text, x + dot, y + dot, dot, (Color){255, 255, 255});
}

static void
paint_town(Canvas *canvas)
{
  double end = canvas->width / canvas->unit;

  paint_sky(canvas);
  for (double x = -20, width; x < end; x += width + 4) {
    width = between(canvas, 110, 220);
    paint_house(canvas, x, width, between(canvas, 160, 430));
  }
  paint_sign(canvas, 144, 470, "CONVOLVE", 6, (Color){190, 28, 40});
  paint_sign(canvas, 1190, 500, "CAFE", 8, (Color){20, 110, 90});
  paint_sign(canvas, 1500, 480, "OPEN", 9, (Color){40, 60, 170});
  paint_sign(canvas, 2160, 500, "CONVOLVE", 5, (Color){150, 90, 20});
  paint(canvas, RECTANGLE, 0, 596, end, 124, (Color){72, 72, 78}, 0.25);
  paint(canvas, RECTANGLE, 0, 592, end, 6, (Color){150, 146, 140}, 0.1);
  for (double x = 0; x < end; x += 90)
    paint(canvas, RECTANGLE, x, 694, 52, 7, (Color){226, 222, 206}, 0.05);
  for (double x = 90; x < end; x += 330)
    paint_tree(canvas, x);
  for (gsize i = 0; i < G_N_ELEMENTS(cars); i++)
    paint_car(canvas, cars[i].left, cars[i].color);
}

/* BT.709, of 16 to 235, which is what a test source makes of this size. */
static void
convert(Scene *scene, const guint8 *rgb)
{
  for (int y = 0; y < scene->height; y++)
    for (int x = 0; x < scene->width; x++) {
      const guint8 *p = rgb + 3 * ((gsize)y * scene->width + x);
      double luma = 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
      gsize at = (gsize)(y / 2) * scene->width + (gsize)(x / 2) * 2;

      scene->luma[(gsize)y * scene->width + x] = (guint8)(16.5 + luma * 219 / 255);
      scene->chroma[at] = (guint8)(128.5 + (p[2] - luma) / 1.8556 * 224 / 255);
      scene->chroma[at + 1] = (guint8)(128.5 + (p[0] - luma) / 1.5748 * 224 / 255);
    }
}

Scene *
scene_new(int width, int height)
{
  Scene *scene = g_new0(Scene, 1);
  Canvas canvas = {.width = (2 * width + 1) / 2 * 2, .height = height, .unit = height / 720.0};

  canvas.rgb = g_malloc0_n(3 * (gsize)canvas.width, (gsize)height);
  canvas.rand = g_rand_new_with_seed(7);
  paint_town(&canvas);
  *scene = (Scene){.width = canvas.width, .height = height, .frame_width = width};
  scene->luma = g_malloc_n((gsize)scene->width, (gsize)height);
  scene->chroma = g_malloc_n((gsize)scene->width, (gsize)(height + 1) / 2);
  convert(scene, canvas.rgb);
  g_free(canvas.rgb);
  g_rand_free(canvas.rand);
  return scene;
}

void
scene_free(Scene *scene)
{
  g_free(scene->luma);
  g_free(scene->chroma);
  g_free(scene);
}

/* The column of the scene at the left edge of the frame. */
static int
view_left(const Scene *scene, GstClockTime time)
{
  double turn = 2 * G_PI * (double)time / GST_SECOND / SECONDS_THERE_AND_BACK;

  return (int)((scene->width - scene->frame_width) * (0.5 - 0.5 * cos(turn))) / 2 * 2;
}

void
scene_draw(const Scene *scene, GstVideoFrame *frame, GstClockTime time)
{
  int left = view_left(scene, time);

  for (int y = 0; y < scene->height; y++) {
    guint8 *luma = GST_VIDEO_FRAME_PLANE_DATA(frame, 0), *chroma = GST_VIDEO_FRAME_PLANE_DATA(frame, 1);
    gsize row = (gsize)y * scene->width + left, chroma_row = (gsize)(y / 2) * scene->width + left;

    memcpy(luma + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0), scene->luma + row, scene->frame_width);
    if (y % 2 == 0)
      memcpy(chroma + (gsize)(y / 2) * GST_VIDEO_FRAME_PLANE_STRIDE(frame, 1), scene->chroma + chroma_row,
             (scene->frame_width + 1) / 2 * 2);
  }
}

void
scene_mark_plates(const Scene *scene, GstBuffer *frame, GstClockTime time)
{
  double unit = scene->height / 720.0;
  int top = (int)floor(PLATE_TOP * unit), bottom = (int)ceil((PLATE_TOP + PLATE_HEIGHT) * unit);

  for (gsize i = 0; i < G_N_ELEMENTS(cars); i++) {
    double start = (cars[i].left + PLATE_LEFT) * unit - view_left(scene, time);
    int left = MAX((int)floor(start), 0), right = MIN((int)ceil(start + PLATE_WIDTH * unit), scene->frame_width);

    if (left < right)
      gst_buffer_add_video_region_of_interest_meta(frame, "plate", (guint)left, (guint)top, (guint)(right - left),
                                                   (guint)(bottom - top));
  }
}
