/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Measures how much a filter hides, and that it does not change the rest: compares each frame before and after an
 * element.
 */
#pragma once

#include <gst/video/video.h>

/* What must happen to a pixel: it must stay unchanged, it may change (as in a soft edge), or it is filtered. */
typedef enum { REPORT_STAYS, REPORT_MAY_CHANGE, REPORT_FILTERED } ReportPixel;

/* Fills a map with one byte per pixel, in rows without gaps. It is initialised to REPORT_STAYS. Called for each frame
 * before the element. */
typedef void ReportMap(GstBuffer *buffer, guint8 *map, const GstVideoInfo *info, gpointer user_data);

typedef struct Report Report;

/* Compares frames in system memory from now on. Free with report_free() when the element has stopped. */
Report *report_new(GstElement *element, ReportMap *fill, gpointer user_data);
void report_free(Report *report);

/* Returns the percentage of detail left in the filtered pixels, or -1 if they had none. With differences between
 * neighbours of b before and a after the filter, the detail left is |sum of a * b| / sum of b * b. */
double report_left(const Report *report);

/* Prints the mean difference between neighbours in the filtered pixels, before and after, and how many samples changed
 * that must not. */
void report_print(const Report *report, const char *filtered);
