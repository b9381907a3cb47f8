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
