/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture with detail for those who have no video at hand: a town at dusk, along which the view moves.
 */
#pragma once

#include <gst/video/video.h>

/* Seen through frames of one size. Free with scene_free(). */
typedef struct Scene Scene;

Scene *scene_new(int width, int height);
void scene_free(Scene *scene);

/* Fills an NV12 frame of the scene's size with the view at a time of the stream. */
void scene_draw(const Scene *scene, GstVideoFrame *frame, GstClockTime time);

/* Attaches a region of interest of type "plate" to the frame for each number plate of a car in view, as a detector
 * does. The buffer must be writable. */
void scene_mark_plates(const Scene *scene, GstBuffer *frame, GstClockTime time);
