/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads the stand-in driver; linked into the programs that control it.
 */
#include "standin.h"

#include <dlfcn.h>
#include <stdio.h>

const Standin *
standin_open(const char *path)
{
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
  const Standin *(*get)(void) = NULL;

  if (library)
    *(void **)&get = dlsym(library, "standin_get");
  if (!get)
    printf("no stand-in driver: %s\n", path ? dlerror() : "no path was given");
  return get ? get() : NULL;
}
