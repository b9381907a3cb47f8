/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The variants of the engine that cases are run on.
 */
#include <stdio.h>
#include <string.h>

#include "support/cases.h"

#define SEED 20240607
#define QUICK_STEP 29 /* prime, so that --quick meets every value of every loop */

GArray *test_variants;

static guint32
environment_number(const char *name, guint32 otherwise)
{
  const char *text = g_getenv(name);

  return text ? (guint32)g_ascii_strtoull(text, NULL, 0) : otherwise;
}

void
test_options_read(void)
{
  test_options.seed = environment_number("CNV_SEED", SEED);
  test_options.only = environment_number("CNV_CASE", 0);
  test_options.quick_step = MAX(1, environment_number("CNV_QUICK_STEP", QUICK_STEP));
}

char *
test_variant_name(const TestVariant *v)
{
  return g_strdup_printf("%s %s%s", v->backend->name, cnv_algorithm_nicks[v->algorithm].nick,
                         v->memory == CNV_MEMORY_DEVICE ? " device-memory" : "");
}

static void
add_variants(const CnvBackend *backend, CnvSession *session)
{
  CnvMemory last = backend->takes_device_memory ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST;

  for (CnvMemory memory = CNV_MEMORY_HOST; memory <= last; memory++)
    for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++) {
      TestVariant v = {backend, session, nick->value, memory};

      g_array_append_val(test_variants, v);
    }
}

/* Opens a session on a backend. Returns NULL and prints the reason if the backend is not available. An available one
 * must open. */
static CnvSession *
open_backend(const CnvBackend *backend)
{
  const CnvSessionOptions options = {.device = -1, .n_threads = 3, .simd = test_options.simd};
  GError *error = NULL;
  CnvSession *session;

  if (!backend->probe(-1, &error)) {
    printf("backend %s is not here: %s\n", backend->name, error->message);
    g_error_free(error);
    return NULL;
  }
  session = backend->open(&options, &error);
  if (!session)
    g_error("backend %s: %s", backend->name, error->message);
  printf("backend %s: %s\n", backend->name, session->device_name);
  return session;
}

gboolean
test_variants_open(void)
{
  test_variants = g_array_new(FALSE, FALSE, sizeof(TestVariant));
  for (int i = 0; cnv_backends[i]; i++) {
    CnvSession *session;

    if (test_options.backend && strcmp(test_options.backend, cnv_backends[i]->name) != 0)
      continue;
    session = open_backend(cnv_backends[i]);
    if (session)
      add_variants(cnv_backends[i], session);
  }
  return test_variants->len > 0;
}

const TestVariant *
test_cpu_variant(CnvAlgorithm algorithm)
{
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (strcmp(v->backend->name, "cpu") == 0 && v->algorithm == algorithm)
      return v;
  }
  return NULL;
}

void
test_variants_close(void)
{
  CnvSession *last = NULL;

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    char *name = test_variant_name(v);

    printf("%-28s %6u runs, %5u refused; %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples of noise one off\n",
           name, v->runs, v->refusals, v->all_inexact, v->all_samples);
    g_free(name);
    if (v->session != last)
      cnv_session_close(v->session);
    last = v->session;
  }
  g_array_free(test_variants, TRUE);
}
