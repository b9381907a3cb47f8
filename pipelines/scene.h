/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture with detail, for users without a video at hand: a town at dusk, over which the view moves.
 */
#pragma once

#include <gst/video/video.h>

/* The scene for frames of one size. Free with scene_free(). */
typedef struct Scene Scene;

Scene *scene_new(int width, int height);
void scene_free(Scene *scene);

/* Draws the view at a time of the stream into an NV12 frame of the size of the scene. */
void scene_draw(const Scene *scene, GstVideoFrame *frame, GstClockTime time);

/* Attaches a region of interest of type "plate" for each number plate in view, like a detector. The buffer must be
 * writable. */
void scene_mark_plates(const Scene *scene, GstBuffer *frame, GstClockTime time);
