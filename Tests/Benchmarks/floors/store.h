// The C server's graphics: a struct of arrays with just the three attributes of the benchmark, 57 bytes a graphic.

#ifndef STORE_H
#define STORE_H

#include "rtree.h"

enum { MAX_KINDS = 256 };

typedef struct {
  uint32_t count, capacity;
  double *x, *y;
  int64_t *ids, *ranks;  // ids ascend: they are minted
  uint32_t *name_ends;   // into names; a name starts where the one before ends
  uint8_t *kinds;
  Buffer names;
  struct { char *text; uint32_t length; } kind_texts[MAX_KINDS];
  uint32_t kind_count;
  int64_t next_id;
  RTree tree;
  uint32_t *found;  // room for the rows of a search
  uint32_t found_capacity;
} Store;

static void grow_store(Store *s, uint32_t wanted) {
  if (wanted <= s->capacity) return;
  uint32_t n = s->capacity ? s->capacity : 1024;
  while (n < wanted) n *= 2;
  s->x = checked(realloc(s->x, n * sizeof *s->x));
  s->y = checked(realloc(s->y, n * sizeof *s->y));
  s->ids = checked(realloc(s->ids, n * sizeof *s->ids));
  s->ranks = checked(realloc(s->ranks, n * sizeof *s->ranks));
  s->name_ends = checked(realloc(s->name_ends, n * sizeof *s->name_ends));
  s->kinds = checked(realloc(s->kinds, n * sizeof *s->kinds));
  s->capacity = n;
}

// The code of a kind; -1 when there are too many.
static int kind_code(Store *s, const char *text, size_t length) {
  for (uint32_t i = 0; i < s->kind_count; i++)
    if (s->kind_texts[i].length == length && !memcmp(s->kind_texts[i].text, text, length)) return (int)i;
  if (s->kind_count == MAX_KINDS) return -1;
  char *copy = checked(malloc(length + 1));
  memcpy(copy, text, length);
  s->kind_texts[s->kind_count].text = copy;
  s->kind_texts[s->kind_count].length = (uint32_t)length;
  return (int)s->kind_count++;
}

static void index_store(Store *s) {
  build_tree(&s->tree, s->x, s->y, s->count);
  if (s->found_capacity < s->count) {
    free(s->found);
    s->found = checked(malloc(((size_t)s->count + FANOUT) * sizeof *s->found));  // its pages stay untouched until used
    s->found_capacity = s->count;
  }
}

static int by_row(const void *a, const void *b) {
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return (p > q) - (p < q);
}

// The rows in the box, in drawing order: insertion sort for the few dozen hits of a screen.
static uint32_t search_store(Store *s, Bounds box) {
  uint32_t n = search_all(&s->tree, box, s->found), *rows = s->found;
  if (n > 256) {
    qsort(rows, n, sizeof *rows, by_row);
    return n;
  }
  for (uint32_t i = 1; i < n; i++) {
    uint32_t row = rows[i], j = i;
    for (; j && rows[j - 1] > row; j--) rows[j] = rows[j - 1];
    rows[j] = row;
  }
  return n;
}

// -1 when there is none.
static int64_t row_of(const Store *s, int64_t id) {
  uint32_t low = 0, high = s->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  return low < s->count && s->ids[low] == id ? (int64_t)low : -1;
}

#endif
