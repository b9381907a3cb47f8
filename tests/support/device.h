/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What tests do on the GPU by themselves: frames in its memory, each a twin of a test frame, guards and all (only where
 * a backend takes device memory); page-locked memory; and the time between two moments on a session's stream, for the
 * benchmark.
 */
#pragma once

#include "support/frames.h"

typedef struct {
  void *block[CNV_MAX_PLANES];        /* CUdeviceptr, by plane */
  guint64 allocation[CNV_MAX_PLANES]; /* of each plane, so that memcheck sees its ends; joined: the first alone */
} TestDeviceFrame;

/* Allocates the twin and copies all bytes of the host's blocks there. */
void test_device_frame_init(TestDeviceFrame *device, const TestFrame *host);
void test_device_frame_clear(TestDeviceFrame *device);

/* Copies all bytes back over the host's blocks. */
void test_device_frame_read(const TestDeviceFrame *device, const TestFrame *host);

void test_device_frame_view(const TestDeviceFrame *device, const TestFrame *host, CnvFrame *view);

/* Other bytes in device memory: returns their CUdeviceptr. */
void *test_device_upload(const void *from, gsize size);
void test_device_free(void *block); /* NULL is allowed */

/* Page-locked host memory of the tests' own, and whether memory is page-locked, whoever did that: the driver's word. */
void *test_device_alloc_pinned(gsize size);
void test_device_free_pinned(void *memory);
gboolean test_device_is_pinned(const void *memory);

/* A stream of device 0, made when it is first asked for: a CUstream for cnv_session_use_stream, which NULL also is
 * where the build has no CUDA. i: 0..2 */
void *test_device_stream(int i);

/* Times what is submitted in between: on a GPU by events on the session's stream, else by the clock. One at a time.
 * Returns microseconds, when all is done. */
void test_timer_start(CnvSession *session);
double test_timer_stop(CnvSession *session);

/* That stream, a CUstream: one of test_device_stream, which the session works on from then on. */
void *test_timer_stream(CnvSession *session);

/* Copies a frame as the benchmark's measure: on a GPU by the copy kernel, in order with the session's work. */
gboolean test_copy(CnvSession *session, const CnvPlan *plan, const CnvFrame *from, const CnvFrame *to, GError **error);

/* Free memory of device 0; any thread. */
gsize test_device_free_bytes(void);
