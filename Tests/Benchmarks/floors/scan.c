// The floor for filters and statistics: loops over columns of the points, kinds as codes.
//
// Run: scan [COUNT]. Prints count_milliseconds, the median of 31 scans for `kind = 'building' AND rank > 5000000`, and what they count.

#include <time.h>

#include "data.h"

enum { ROUNDS = 31 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

__attribute__((noinline)) static uint32_t scan(
    const uint8_t *kinds, const int64_t *ranks, uint32_t count, uint8_t kind, int64_t rank) {
  uint32_t hits = 0;
  for (uint32_t i = 0; i < count; i++) hits += kinds[i] == kind && ranks[i] > rank;
  return hits;
}

int main(int arguments, char **values) {
  uint32_t count = arguments > 1 ? (uint32_t)atoi(values[1]) : 1000000, hits = 0;
  uint8_t *kinds = checked(malloc(count));
  int64_t *ranks = checked(malloc(count * sizeof *ranks));
  for (uint32_t i = 0; i < count; i++) {
    kinds[i] = kind_of(i) == kind_of(0);
    ranks[i] = rank_of(i);
  }
  double times[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    double start = now();
    hits = scan(kinds, ranks, count, 1, 5000000);
    times[round] = now() - start;
  }
  qsort(times, ROUNDS, sizeof *times, ascending);
  printf("count_milliseconds %.4f\ncount_hits %u\n", times[ROUNDS / 2] * 1e3, hits);
  return 0;
}
