/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How much a filter hides, and that it leaves the rest alone: compares each frame before and after an element.
 */
#pragma once

#include <gst/video/video.h>

/* A frame's pixels: those to be filtered, those that must stay as they are, and those about which nothing is said, such
 * as a soft edge. */
typedef enum { REPORT_STAYS, REPORT_MAY_CHANGE, REPORT_FILTERED } ReportPixel;

/* Fills a map of a byte a pixel, rows without gaps, which comes full of REPORT_STAYS. Called for each frame on its way
 * into the element. */
typedef void ReportMap(GstBuffer *buffer, guint8 *map, const GstVideoInfo *info, gpointer user_data);

typedef struct Report Report;

/* Compares from now on, in frames of system memory. Free with report_free() when the element has stopped. */
Report *report_new(GstElement *element, ReportMap *fill, gpointer user_data);
void report_free(Report *report);

/* Returns the percentage of the detail that is left in what is filtered, or -1 if there was none. A difference between
 * neighbours is b before and a after the filter; detail that is left is |sum of a * b| / sum of b * b. */
double report_left(const Report *report);

/* Prints the mean difference between neighbours in what is filtered, before and after, and how many samples have
 * changed that must not. */
void report_print(const Report *report, const char *filtered);
