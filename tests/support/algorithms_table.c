/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of verdicts: filters down, formats across, a letter for what runs there. A refusal that is new, or gone, is
 * a change of this table; tests/unit/algorithms.c prints the row as it would have to be.
 */
#include "support/algorithms.h"

#include <string.h>

const char test_algorithm_letters[] = "?NTXSFMC";

/* clang-format off */
const TestAlgorithmKind test_algorithm_kinds[] = {
    /* GPU          wrap         renormalize  older GPU    CPU */
    {'m', {"NTXSFM. M", "NTXSFM. M", "NTXSFM. M", "NTXSF.. F", "NT.S... S"}},
    {'o', {"NTXSFM. M", "NTXSFM. M", "NTXSF.. F", "NTXSF.. F", "NT.S... S"}},
    {'p', {"NTXS.M. M", "NTXS.M. M", "NTXS.M. M", "NTXS... S", "NT.S... S"}},
    {'v', {"NTXSF.. FM", "NTXSF.. FM", "NTXSF.. F", "NTXSF.. F", "NT.S... S"}},
    {'w', {"NTXS... SM", "NTXS... SM", "NTXS... SM", "NTXS... S", "NT.S... S"}},
    {'f', {"NTXSF.. F", "NTXSF.. F", "NTXSF.. F", "NTXSF.. F", "NT.S... S"}},
    {'s', {"NTXS... S", "NTXS... S", "NTXS... S", "NTXS... S", "NT.S... S"}},
    {'i', {"NTXS... N", "NTXS... N", "NTXS... N", "NTXS... N", "NT.S... S"}},
    {'t', {"NTXS... T", "NTXS... T", "NTXS... T", "NTXS... T", "NT.S... S"}},
    {'k', {"NTXS... SF", "NTXS... SF", "NTXS... SF", "NTXS... SF", "NT.S... S"}},
    {'j', {"NTXS... SN", "NTXS... SN", "NTXS... SN", "NTXS... SN", "NT.S... S"}},
    {'D', {"NT...M. M", "NT...M. M", "NT..... T", "NT..... T", "NT..... T"}},
    {'T', {"NT..... T", "NT..... T", "NT..... T", "NT..... T", "NT..... T"}},
    {'E', {"NTXS.M. M", "NTXS.M. M", "NTXS... T", "NTXS... T", "NT.S... S"}},
    {'R', {"NTXS.M. M", "NTXS.M. M", "NTXS... S", "NTXS... S", "NT.S... S"}},
    {'G', {"NTXS.M. M", "NTXS.M. M", "NTXS... SM", "NTXS... SF", "NT.S... S"}},
    {'H', {"NTXS.M. M", "NTXS.M. M", "NTXS... TM", "NTXS... TF", "NT.S... S"}},
    {'-', {"settings", "settings", "settings", "settings", "settings"}},
    {'a', {"NTXS.M. M", "NTXS.M. M", "NTXS... ST", "NTXS... ST", "NT.S... S"}},
    {'b', {"NT...M. M", "NT...M. M", "NT..... T", "NT..... T", "NT..... ST"}},
    {'c', {"NT...M. M", "NT...M. M", "NT..... ST", "NT..... ST", "NT..... ST"}},
    {'d', {"NTXS... ST", "NTXS... ST", "NTXS... ST", "NTXS... ST", "NT.S... S"}},
    {'e', {"NT..... T", "NT..... T", "NT..... T", "NT..... T", "NT..... ST"}},
    {'l', {"NT..... ST", "NT..... ST", "NT..... ST", "NT..... ST", "NT..... ST"}},
    {'r', {"NT...M. M", "NT...M. M", "NT..... TS", "NT..... TS", "NT..... TS"}},
    {'u', {"NTXS... TF", "NTXS... TF", "NTXS... TF", "NTXS... TF", "NT.S... S"}},
    {'x', {"NT..... TS", "NT..... TS", "NT..... TS", "NT..... TS", "NT..... TS"}},
    {'y', {"NTXS... TN", "NTXS... TN", "NTXS... TN", "NTXS... TN", "NT.S... S"}},
    {'A', {"NTXS.M. M", "NTXS.M. M", "NTXS... SF", "NTXS... SF", "NT.S... S"}},
    {'J', {"NTXS... MS", "NTXS... MS", "NTXS... MS", "NTXS... S", "NT.S... S"}},
    {'K', {"NTXS.M. M", "NTXS.M. M", "NTXS.M. M", "NTXS... SF", "NT.S... S"}},
    {'L', {"NTXS.M. M", "NTXS.M. M", "NTXS... TF", "NTXS... TF", "NT.S... S"}},
    {'M', {"NTXS... MT", "NTXS... MT", "NTXS... T", "NTXS... T", "NT.S... S"}},
    {'N', {"NT..... MT", "NT..... MT", "NT..... T", "NT..... T", "NT..... T"}},
    {'O', {"NTXS... TM", "NTXS... TM", "NTXS... T", "NTXS... T", "NT.S... S"}},
    {'Z', {"NT..... TM", "NT..... TM", "NT..... T", "NT..... T", "NT..... T"}},
    {'z', {"NTXSF.. MF", "NTXSF.. MF", "NTXSF.. F", "NTXSF.. F", "NT.S... S"}},
    {'C', {"N.....C C", "N.....C C", "N.....C C", "N.....C C", "N.....C C"}},
    {'Q', {"NTXS... MS", "NTXS... MS", "NTXS... SM", "NTXS... SF", "NT.S... S"}},
    {0},
};

const char *const test_algorithm_columns[] = {
    /* 8 bits, in planes */
    "NV12 NV21",
    "NV16",
    "NV24",
    "I420 YV12 A420 A420:filter",
    "Y42B",
    "Y444",
    "RGBP BGRP GBR GBRA GBRA:filter",
    "GRAY8",
    /* 8 bits, interleaved */
    "RGB BGR",
    "RGBA BGRA ARGB ABGR RGBx BGRx xRGB xBGR",
    "RGBA:filter BGRA:filter ARGB:filter ABGR:filter",
    /* 10 bits */
    "P010_10LE",
    "I420_10LE A420_10LE",
    "I422_10LE A422_10LE",
    "Y444_10LE A444_10LE",
    /* 12 bits */
    "I420_12LE",
    "I422_12LE",
    "Y444_12LE",
    /* 16 bits */
    "P016_LE",
    "Y444_16LE",
    "GRAY16_LE",
    "ARGB64 RGBA64_LE",
    "ARGB64:filter RGBA64_LE:filter",
    /* not arrays of samples that are filtered alike: packed 4:2:2, words, colours weighted by alpha */
    "YUY2 UYVY Y210 Y212_LE",
    "AYUV AYUV:filter VUYA VUYA:filter RGB10A2_LE RGB10A2_LE:filter BGR10A2_LE BGR10A2_LE:filter Y410 Y410:filter Y412_LE Y412_LE:filter",
    "A420:premultiply A420_10LE:premultiply",
    "RGBA:premultiply BGRA:premultiply ARGB:premultiply ABGR:premultiply AYUV:premultiply VUYA:premultiply GBRA:premultiply RGB10A2_LE:premultiply BGR10A2_LE:premultiply ARGB64:premultiply RGBA64_LE:premultiply Y410:premultiply Y412_LE:premultiply",
    /* 10 and 12 bits, with alpha or in another order */
    "A420_10LE:filter",
    "A422_10LE:filter",
    "A444_10LE:filter",
    "GBR_10LE",
    "P012_LE",
    "GBR_12LE",
    "A422_10LE:premultiply",
    "A444_10LE:premultiply",
    NULL,
};

const TestAlgorithmRow test_algorithm_rows[] = {
    {"gaussian box", 0, 0, "mmmmmmmm mmm mmmm mmm mmmmm iiii mmmmmmii"},
    {"gaussian", 1, 1, "mmmmmmmm mmm mmmm vff fffff ssss mmmmvfss"},
    {"box", 1, 12, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"gaussian", 2, 2, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"gaussian", 3, 3, "mmmmmmmm mmm mmmm zoo fffff ssss mmmmzoss"},
    {"gaussian", 4, 4, "mmmmmmmm mmm mmmm zzo fffff ssss mmmmzoss"},
    {"gaussian", 5, 5, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"gaussian", 6, 12, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"gaussian box", 13, 16, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"gaussian box", 17, 24, "mmmmmmmm mmm mmmm vvf fffff ssss mmmmffss"},
    {"gaussian box", 25, 32, "mmmmmmmm mpp mmmm vvf fffss ssss mmmmffss"},
    {"gaussian box", 33, 42, "mmmmmmmm pss KKpp kss kssss ssss Kpppksss"},
    {"gaussian box", 43, 48, "mmmmmmmm sss KKpp kss kssss ssss Kpppksss"},
    {"gaussian box", 49, 64, "KppKpppp sss KKpp kss kssss ssss Kpppksss"},
    {"gaussian box", 65, 80, "KpJKpppp sss swws sss sssss ssss wwssssss"},
    {"gaussian box", 81, 96, "KpJKpppp sss swss sss sssss ssss wsssssss"},
    {"gaussian box", 97, 128, "ppJppppp sss swss sss sssss ssss wsssssss"},
    {"gaussian box", 129, 256, "ssswssss sss ssss sss sssss ssss ssssssss"},
    {"gaussian box", 257, 512, "ssssssss sss ssss sss sssss ssss ssssssss"},
    {"identity", 1, 64, "mmmmmmmm mmm mmmm mmm mmmmm iiii mmmmmmii"},
    {"half", 1, 64, "mmmmmmmm mmi mmmm mmm mmmmi iiii mmmmmmii"},
    {"gaussian-5x1 gaussian-sigma", 0, 0, "mmmmmmmm mmm mmmm zzo fffff ssss mmmmzoss"},
    {"row-7", 0, 0, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"gaussian-0x4", 0, 0, "mmmmmmmm mmm mmmm zoo fffff ssss mmmmzoss"},
    {"box-1x6 row-2 row-binomial rank-1 axes-5x4 axes-9x0 row-negative row-anchor-first column-anchor-last "
     "axes-flip-anchor disk-0x4", 0, 0, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"column-6", 0, 0, "mmmmmmmm mmm mmmm zoo fffff ssss mmmmzoss"},
    {"gaussian-contrast", 1, 1, "mmmmmmmm mms mmmm fff ffffs ssss mmmmffss"},
    {"gaussian-contrast", 2, 4, "mmmmmmmm mms mmmm fff ffffs ssss mmmmffss"},
    {"gaussian-contrast", 5, 8, "mmmmmmmm mms mmmm zzo ffffs ssss mmmmzoss"},
    {"gaussian-contrast", 16, 16, "mmmmmmmm mms mmmm ooo ffffs ssss mmmmooss"},
    {"gaussian-contrast", 32, 32, "mmmmmmmm mps mmmm vvf fffss ssss mmmmffss"},
    {"gaussian-contrast", 64, 64, "KppKpppp sss KKpp kss kssss ssss Kpppksss"},
    {"box-3x0 axes-signed", 0, 0, "mmmmmmmm mms mmmm ooo ffffs ssss mmmmooss"},
    {"dense-5x5 dense-7x7 dense-17x17 dense-signed dense-anchor dense-flip-anchor "
     "motion-30 motion-158", 0, 0, "DDDDDDDD DDD DDDD DDD TTTTT TTTT DDDDDDTT"},
    {"dense-2x3", 0, 0, "DDDDDDDD DDD DDDD NDD TTTTT TTTT DDDDNDTT"},
    {"dense-3x3 dense-flip", 0, 0, "DDDDDDDD DDD DDDD NDD TTTTT TTTT DDDDNDTT"},
    {"dense-31x31", 0, 0, "DDDDDDDD TTT DDDD DDD TTTTT TTTT DDDDDDTT"},
    {"dense-signed-raw", 0, 0, "DDDDDDDD DDT DDDD DDD TTTTT TTTT DDDDDDTT"},
    {"dense-derivative dense-derivative-17", 0, 0, "DDDDDDDD DDT DDDD DDD TTTTT TT-- DDDDDD--"},
    {"laplacian", 0, 0, "DDDDDDDD DDD DDDD DDD TTTTT TT-- DDDDDD--"},
    {"axes-0x33", 0, 0, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"row-zero-sum rank-1-zero-sum", 0, 0, "mmmmmmmm mms mmmm ooo ffffs ss-- mmmmoo--"},
    {"rank-2-zero-sum", 0, 0, "bbEbbEEE EEt bbbE bbE etttt et-- bbEEbE--"},
    {"rank-2 rank-2-even rank-2-anchor unsharp-5x0 emboss", 0, 0, "EEEEEEEE EEE EEEE EEE ttttt tttt EEEEEEtt"},
    {"rank-3", 0, 0, "caRcaRRR RRR ccaR caR lssss dsls caRRcRds"},
    {"rank-4", 0, 0, "cRRcRRRR RRR ccRR cRR lssss ssls cRRRcRss"},
    {"disk", 1, 1, "DDDDDDDD DDD DDDD DDD TTTTT TTTT DDDDDDTT"},
    {"disk", 3, 3, "bbEbbEEE EEE bbbE bbE etttt etet bbEEbEet"},
    {"disk", 8, 8, "rDDrDDDD DDD rrDD rDD xTTTT TTxT rDDDrDTT"},
    {"disk", 16, 16, "DDDDDDDD TTT DDDD DDD TTTTT TTTT DDDDDDTT"},
    {"motion-45", 16, 16, "DDDDDDDD DTT DDDD DDD TTTTT TTTT DDDDDDTT"},
    {"disk-6x2", 0, 0, "acRacRRR RRR aacR acR dssss lsds acRRaRls"},
    {"motion motion-90", 3, 3, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"motion", 20, 20, "mmmmmmmm mmm mmmm vvf fffff ssss mmmmffss"},
    {"motion", 64, 64, "KKpKKppp sss KKKp kks kssss ssss KKppksss"},
    {"motion-90", 20, 20, "mmmmmmmm mmm mmmm ooo fffff ssss mmmmooss"},
    {"motion-90", 64, 64, "KppKpppp ppp KKpp ARR kssss ssss KpppARss"},
    {"motion-45", 3, 3, "DDDDDDDD DDD DDDD ZZT TTTTT TTTT DDDDZTTT"},
    {"sharpen sharpen-2.5", 1, 64, "EEEEEEEE EEE EEEE EEE ttttt tttt EEEEEEtt"},
    {"unsharp", 1, 1, "EEEEEEEE EEE EEEE OOt ttttt tttt EEEEOttt"},
    {"unsharp", 2, 2, "EEEEEEEE EEE EEEE EME ttttt tttt EEEEEEtt"},
    {"unsharp", 3, 3, "EEEEEEEE EEE EEEE ttt ttttt tttt EEEEtttt"},
    {"emboss-120", 1, 2, "EEEEEEEE EEE EEEE EEE ttttt tttt EEEEEEtt"},
    {"emboss-120", 3, 3, "EEEEEEEE EEE EEEE EME ttttt tttt EEEEEEtt"},
    {"unsharp", 8, 16, "RRRRRRRR RRR RRRR sss sssss ssss RRRRssss"},
    {"unsharp-sigma", 0, 0, "aaRaaRRR RRR aaaR dds dssss dsds aaRRdsds"},
    {"sobel prewitt", 0, 0, "GGGGGGRR RRR GGGG AAA kksss js-- GGGRAR--"},
    {"sobel-5 scharr", 0, 0, "GGGGGGRR RRs GGGG AAA kksss js-- GGGRAR--"},
    {"sobel-7", 0, 0, "GGGGGGRR RRs GGGG AAA kksss js-- QQQRAR--"},
    {"sobel-x sobel-y scharr-x prewitt-y", 0, 0, "mmmmmmmm mms mmmm ooo ffffs js-- mmmmoo--"},
    {"sobel-30 prewitt-225", 0, 0, "HHHHHHEE EEt HHHH LLL uuttt yt-- HHHELE--"},
    {"sobel-90", 0, 0, "mmmmmmmm mmm mmmm ooo fffff js-- mmmmoo--"},
    {"laplacian-3", 0, 0, "EEEEEEEE EEE EEEE EEE ttttt tt-- EEEEEE--"},
    {"laplacian-5 laplacian-7", 0, 0, "EEEEEEEE EEt EEEE EEE ttttt tt-- EEEEEE--"},
    {"log", 1, 1, "EEEEEEEE EEt EEME ttt ttttt tt-- EMEEtt--"},
    {"log", 3, 3, "EEEEEEEE EEt EEEE MME ttttt tt-- EEEEME--"},
    {"log", 8, 8, "RRRRRRRR RRs RRRR RRR sssss ss-- RRRRRR--"},
    {"log", 16, 16, "RRRRRRRR sss RRRR RRR sssss ss-- RRRRRR--"},
    {"mosaic mosaic-contrast", 1, 512, "CCCCCCCC CCC CCCC CCC CCCCC CCCC CCCCCCCC"},
    {"mosaic-5x1 mosaic-0x4", 0, 0, "CCCCCCCC CCC CCCC CCC CCCCC CCCC CCCCCCCC"},
    {"fill", 1, 64, "CCCCCCCC CCC CCCC CCC CCCCC CCCC CCCCCCCC"},
    {"log-sigma", 0, 0, "aaRaaRRR RRR aaaR aaR dssss ds-- aaRRaR--"},
    {NULL},
};
/* clang-format on */

gboolean
test_filter_takes_radius(const TestFilter *filter)
{
  return filter->type != CNV_FILTER_CUSTOM && filter->sigma == 0 && filter->radius == 0 && filter->radius_x < 0;
}

static gboolean
has_word(const char *words, const char *word)
{
  g_auto(GStrv) list = g_strsplit(words, " ", -1);

  return g_strv_contains((const char *const *)list, word);
}

int
test_algorithm_column(const CnvFormat *format, CnvAlphaMode alpha_mode)
{
  g_autofree char *with = g_strdup_printf("%s:%s", format->name, cnv_alpha_mode_nicks[alpha_mode].nick);

  for (int i = 0; test_algorithm_columns[i]; i++)
    if (has_word(test_algorithm_columns[i], alpha_mode == CNV_ALPHA_COPY ? format->name : with))
      return i;
  return -1;
}

static const TestAlgorithmRow *
find_row(const TestFilter *filter, int radius)
{
  const gboolean takes = test_filter_takes_radius(filter);

  for (const TestAlgorithmRow *row = test_algorithm_rows; row->filters; row++)
    if (has_word(row->filters, filter->name) && (!takes || (row->from <= radius && radius <= row->to)))
      return row;
  return NULL;
}

static char
letter_at(const char *kinds, int column)
{
  while (*kinds == ' ' || column-- > 0)
    kinds++;
  return *kinds;
}

const TestAlgorithmKind *
test_algorithm_kind(const TestFilter *filter, int radius, const CnvFormat *format, CnvAlphaMode alpha_mode)
{
  const TestAlgorithmRow *row = find_row(filter, radius);
  const int column = test_algorithm_column(format, alpha_mode);

  for (const TestAlgorithmKind *kind = test_algorithm_kinds; row && column >= 0 && kind->letter; kind++)
    if (kind->letter == letter_at(row->kinds, column))
      return kind;
  return NULL;
}

gboolean
test_format_has_alpha(const CnvFormat *format)
{
  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++)
      if (format->plane[p].role[c] == CNV_ROLE_A)
        return TRUE;
  return FALSE;
}

/* Random taps of samples of 12 bits are near enough to integers of 16 bits, or are not. */
static gboolean
depends_on_seed(const TestCase *c, const CnvFormat *format, CnvAlgorithm algorithm)
{
  return algorithm == CNV_ALGORITHM_TENSOR && format->depth == 12 && c->filter->type == CNV_FILTER_CUSTOM;
}

/* Frames smaller than so many taps in both directions, of which tensor refuses some. */
#define SMALL_RADIUS 32

static gboolean
is_small(const TestCase *c)
{
  return c->radius > SMALL_RADIUS && c->width <= 2 * c->radius && c->height <= 2 * c->radius;
}

char
test_algorithm_verdict(const TestCase *c, const CnvBackend *backend, CnvAlgorithm algorithm)
{
  const CnvFormat *format = cnv_format_find(c->format);
  const gboolean plain = !c->planes && !c->chroma_same && !c->chroma_set && !c->absolute;
  const TestAlgorithmKind *kind =
      test_algorithm_kind(c->filter, c->radius, format, test_format_has_alpha(format) ? c->alpha_mode : CNV_ALPHA_COPY);
  TestMachine machine = TEST_GPU;

  if (!kind || kind->letter == '-' || !plain || c->temporal_radius || c->depth ||
      (c->regions && c->regions->n_plans > 1) || depends_on_seed(c, format, algorithm) ||
      (algorithm == CNV_ALGORITHM_TENSOR && is_small(c)))
    return 0;
  if (strcmp(backend->name, "cuda") != 0)
    machine = TEST_CPU;
  else if (c->border >= CNV_BORDER_WRAP)
    machine = c->border == CNV_BORDER_WRAP ? TEST_GPU_WRAP : TEST_GPU_RENORMALIZE;
  return kind->verdict[machine][algorithm - CNV_ALGORITHM_NAIVE];
}
