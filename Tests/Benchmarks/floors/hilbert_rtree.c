// The floor for the spatial index: a packed, static Hilbert R-tree in C over the same points and boxes as the Swift benchmark.
//
// Source: I. Kamel, C. Faloutsos, "On Packing R-trees", CIKM 1993. Prints build_seconds and microseconds_per_box.
// Build: cc -O2 -o hilbert_rtree hilbert_rtree.c; run pinned: taskset -c 0 ./hilbert_rtree

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1000000, FANOUT = 16, BOXES = 1000, RUNS = 9, LEVELS = 8 };

typedef struct { double x0, y0, x1, y1; } Box;
typedef struct { uint32_t key, row; } Item;

static uint64_t state;

// splitmix64: Steele, Lea, Flood, OOPSLA 2014.
static double unit(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The index of a cell of a 2^16 x 2^16 grid on the Hilbert curve, bit by bit.
static uint32_t hilbert(uint32_t x, uint32_t y) {
  uint32_t key = 0;
  for (uint32_t s = 1u << 15; s; s >>= 1) {
    uint32_t rx = (x & s) != 0, ry = (y & s) != 0;
    key = key << 2 | ((3 * rx) ^ ry);
    if (!ry) {
      if (rx) { x = ~x; y = ~y; }
      uint32_t t = x; x = y; y = t;
    }
  }
  return key;
}

static double *xs, *ys;          // in input order, then in the curve's order
static uint32_t *rows;
static Box *boxes[LEVELS];
static uint32_t counts[LEVELS], levels;

static void sort(Item *items, Item *spare, uint32_t n) {
  for (int shift = 0; shift < 32; shift += 11) {
    static uint32_t starts[2049];
    memset(starts, 0, sizeof starts);
    for (uint32_t i = 0; i < n; i++) starts[(items[i].key >> shift & 2047) + 1]++;
    for (int d = 0; d < 2048; d++) starts[d + 1] += starts[d];
    for (uint32_t i = 0; i < n; i++) spare[starts[items[i].key >> shift & 2047]++] = items[i];
    Item *t = items; items = spare; spare = t;
  }
  // Three passes end in the other buffer.
  memcpy(spare, items, n * sizeof *items);
}

static void build(const double *x, const double *y) {
  Item *items = malloc(COUNT * sizeof *items), *spare = malloc(COUNT * sizeof *items);
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t cx = (uint32_t)((x[i] + 180) / 360 * 65535), cy = (uint32_t)((y[i] + 90) / 180 * 65535);
    items[i] = (Item){hilbert(cx, cy), i};
  }
  sort(items, spare, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) {
    rows[i] = items[i].row;
    xs[i] = x[rows[i]];
    ys[i] = y[rows[i]];
  }
  free(items);
  free(spare);
  uint32_t n = COUNT;
  for (levels = 0; n > 1; levels++) {
    uint32_t m = (n + FANOUT - 1) / FANOUT;
    boxes[levels] = malloc(m * sizeof(Box));
    for (uint32_t node = 0; node < m; node++) {
      Box b = {1e300, 1e300, -1e300, -1e300};
      for (uint32_t i = node * FANOUT; i < (node + 1) * FANOUT && i < n; i++) {
        Box c = levels ? boxes[levels - 1][i] : (Box){xs[i], ys[i], xs[i], ys[i]};
        if (c.x0 < b.x0) b.x0 = c.x0;
        if (c.y0 < b.y0) b.y0 = c.y0;
        if (c.x1 > b.x1) b.x1 = c.x1;
        if (c.y1 > b.y1) b.y1 = c.y1;
      }
      boxes[levels][node] = b;
    }
    counts[levels] = n;
    n = m;
  }
}

static uint32_t search(int level, uint32_t node, Box q, uint32_t *out, uint32_t found) {
  uint32_t end = (node + 1) * FANOUT < counts[level] ? (node + 1) * FANOUT : counts[level];
  if (level == 0) {
    for (uint32_t i = node * FANOUT; i < end; i++) {
      out[found] = rows[i];
      found += (xs[i] >= q.x0) & (xs[i] <= q.x1) & (ys[i] >= q.y0) & (ys[i] <= q.y1);
    }
    return found;
  }
  for (uint32_t i = node * FANOUT; i < end; i++) {
    const Box *b = &boxes[level - 1][i];
    if ((b->x0 <= q.x1) & (b->x1 >= q.x0) & (b->y0 <= q.y1) & (b->y1 >= q.y0))
      found = search(level - 1, i, q, out, found);
  }
  return found;
}

static int ascending(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(void) {
  double *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y), times[RUNS];
  uint32_t *out = malloc((COUNT + FANOUT) * sizeof *out);
  xs = malloc(COUNT * sizeof *xs);
  ys = malloc(COUNT * sizeof *ys);
  rows = malloc(COUNT * sizeof *rows);
  state = 42;
  for (uint32_t i = 0; i < COUNT; i++) {
    x[i] = unit() * 360 - 180;
    y[i] = unit() * 180 - 90;
  }
  Box asked[BOXES];
  state = 7;
  for (int i = 0; i < BOXES; i++) {
    double a = unit() * (360 - 3.6) - 180, b = unit() * (180 - 1.8) - 90;
    asked[i] = (Box){a, b, a + 3.6, b + 1.8};
  }

  double start = now();
  build(x, y);
  double built = now() - start;

  uint64_t hits = 0;
  for (int run = 0; run < RUNS; run++) {
    hits = 0;
    start = now();
    for (int i = 0; i < BOXES; i++) hits += search((int)levels - 1, 0, asked[i], out, 0);
    times[run] = now() - start;
  }
  qsort(times, RUNS, sizeof *times, ascending);
  printf("build_seconds %.4f\nmicroseconds_per_box %.3f\nhits %llu\n", built, times[RUNS / 2] / BOXES * 1e6,
         (unsigned long long)hits);
  return 0;
}
