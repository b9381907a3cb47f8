/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The choice among the variants of a kind with tile jobs.
 */
#pragma once

#include "gpu/kinds.h"

/* Returns the shared memory, in bytes, of a launch whose tiles have this number of rows of outputs. */
guint cnv_kernel_shared_bytes(const CnvKernelKind *kind, const CnvVariant *variant, const CnvNeeds *needs, int rows);

/* Returns the smallest variant of a kind for these needs, or NULL. */
const CnvVariant *cnv_variant_find(const CnvKernelKind *kind, const CnvNeeds *needs);
