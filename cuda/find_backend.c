/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <convolve/backend.h>

const CnvBackend *
cnv_backend_find(const char *name)
{
  for (int i = 0; cnv_backends[i]; i++)
    if (strcmp(cnv_backends[i]->name, name) == 0)
      return cnv_backends[i];
  return NULL;
}
