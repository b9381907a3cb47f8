/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "part.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>

static void
mask_signals(int how)
{
  sigset_t ends;

  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGHUP);
  pthread_sigmask(how, &ends, NULL);
}

static gboolean
release_signals(gpointer user_data)
{
  mask_signals(SIG_UNBLOCK);
  return G_SOURCE_REMOVE;
}

char *
part_new(const char *output)
{
  g_autofree char *beside = g_path_get_dirname(output), *name = g_path_get_basename(output);
  g_autofree char *folder = g_build_filename(beside, "cudaconvolve-XXXXXX.part", NULL);

  mask_signals(SIG_BLOCK);
  g_idle_add_full(G_PRIORITY_HIGH, release_signals, NULL, NULL);
  signal(SIGPIPE, SIG_IGN); /* if the reader of the messages exits, this program must still clean up */
  if (g_mkdtemp(folder))
    return g_build_filename(folder, name, NULL);
  g_printerr("no file can be created in '%s': %s; set OUTPUT to a file in another folder\n", beside, g_strerror(errno));
  return NULL;
}

gboolean
part_keep(const char *part, const char *output)
{
  if (g_rename(part, output) == 0)
    return TRUE;
  g_printerr("'%s' cannot be written: %s; set OUTPUT to another file\n", output, g_strerror(errno));
  return FALSE;
}

void
part_free(char *part)
{
  g_autofree char *folder = g_path_get_dirname(part);

  g_unlink(part);
  g_rmdir(folder);
  g_free(part);
}
