/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What tests need from the GPU: frames in its memory, each a copy of a test frame with its guards (only if a backend
 * accepts device memory); page-locked memory; and, for the benchmark, the time between two moments on a session's
 * stream.
 */
#pragma once

#include "support/frames.h"

typedef struct {
  void *block[CNV_MAX_PLANES];        /* CUdeviceptr, one per plane */
  guint64 allocation[CNV_MAX_PLANES]; /* one per plane, so that memcheck sees its ends; joined: only the first */
} TestDeviceFrame;

/* Allocates device memory and copies all bytes of the host's blocks there. */
void test_device_frame_init(TestDeviceFrame *device, const TestFrame *host);
void test_device_frame_clear(TestDeviceFrame *device);

/* Copies all bytes back over the host's blocks. */
void test_device_frame_read(const TestDeviceFrame *device, const TestFrame *host);

void test_device_frame_view(const TestDeviceFrame *device, const TestFrame *host, CnvFrame *view);

/* Copies other bytes to device memory. Returns their CUdeviceptr, to be freed with test_device_free. */
void *test_device_upload(const void *from, gsize size);
void test_device_free(void *block); /* NULL is allowed */

/* Page-locked host memory of the tests. test_device_is_pinned asks the driver, so it also knows memory that others have
 * locked. */
void *test_device_alloc_pinned(gsize size);
void test_device_free_pinned(void *memory);
gboolean test_device_is_pinned(const void *memory);

/* Returns stream i of device 0, 0..2, created on first use: a CUstream for cnv_session_use_stream. Without CUDA it is
 * NULL, which that function accepts, too. */
void *test_device_stream(int i);

/* Measure the time of what is submitted between the two calls: on a GPU with events on the session's stream, else with
 * the clock. One measurement at a time. test_timer_stop returns microseconds after all work is done. */
void test_timer_start(CnvSession *session);
double test_timer_stop(CnvSession *session);

/* Returns the stream that is timed, a CUstream of test_device_stream, and makes the session work on it from now on. */
void *test_timer_stream(CnvSession *session);

/* Copies a frame, for the benchmark to compare times with: on a GPU with the copy kernel, in order with the session's
 * work. */
gboolean test_copy(CnvSession *session, const CnvPlan *plan, const CnvFrame *from, const CnvFrame *to, GError **error);

/* Returns the free memory of device 0, in bytes. Any thread. */
gsize test_device_free_bytes(void);
