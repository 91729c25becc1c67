// The C server's spatial index: a packed Hilbert R-tree over points, as in hilbert_rtree.c but of any size.
//
// Source: I. Kamel, C. Faloutsos, "On Packing R-trees", CIKM 1993. 22 bytes a point.

#ifndef RTREE_H
#define RTREE_H

#include "buffer.h"

enum { FANOUT = 16, LEVELS = 8 };

typedef struct { double x0, y0, x1, y1; } Bounds;

typedef struct {
  double *x, *y;  // in the curve's order
  uint32_t *rows;
  Bounds *bounds[LEVELS];
  uint32_t counts[LEVELS], levels;
} RTree;

typedef struct { uint32_t key, row; } CurvePlace;

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

static Bounds around_points(const double *x, const double *y, uint32_t from, uint32_t to) {
  Bounds b = {1e300, 1e300, -1e300, -1e300};
  for (uint32_t i = from; i < to; i++) {
    if (x[i] < b.x0) b.x0 = x[i];
    if (y[i] < b.y0) b.y0 = y[i];
    if (x[i] > b.x1) b.x1 = x[i];
    if (y[i] > b.y1) b.y1 = y[i];
  }
  return b;
}

static Bounds around_boxes(const Bounds *boxes, uint32_t from, uint32_t to) {
  Bounds b = {1e300, 1e300, -1e300, -1e300};
  for (uint32_t i = from; i < to; i++) {
    if (boxes[i].x0 < b.x0) b.x0 = boxes[i].x0;
    if (boxes[i].y0 < b.y0) b.y0 = boxes[i].y0;
    if (boxes[i].x1 > b.x1) b.x1 = boxes[i].x1;
    if (boxes[i].y1 > b.y1) b.y1 = boxes[i].y1;
  }
  return b;
}

// Radix sort by key, 11 bits a pass; the result is in `spare` after the third.
static void sort_along_curve(CurvePlace *items, CurvePlace *spare, uint32_t n) {
  static uint32_t starts[2049];
  for (int shift = 0; shift < 33; shift += 11) {
    memset(starts, 0, sizeof starts);
    for (uint32_t i = 0; i < n; i++) starts[(items[i].key >> shift & 2047) + 1]++;
    for (int d = 0; d < 2048; d++) starts[d + 1] += starts[d];
    for (uint32_t i = 0; i < n; i++) spare[starts[items[i].key >> shift & 2047]++] = items[i];
    CurvePlace *t = items; items = spare; spare = t;
  }
}

static void free_tree(RTree *tree) {
  free(tree->x);
  free(tree->y);
  free(tree->rows);
  for (uint32_t level = 0; level < tree->levels; level++) free(tree->bounds[level]);
  *tree = (RTree){0};
}

static void build_tree(RTree *tree, const double *x, const double *y, uint32_t n) {
  free_tree(tree);
  if (!n) return;
  Bounds all = around_points(x, y, 0, n);
  double sx = all.x1 > all.x0 ? 65535 / (all.x1 - all.x0) : 0, sy = all.y1 > all.y0 ? 65535 / (all.y1 - all.y0) : 0;
  CurvePlace *items = checked(malloc(n * sizeof *items)), *sorted = checked(malloc(n * sizeof *sorted));
  for (uint32_t i = 0; i < n; i++)
    items[i] = (CurvePlace){hilbert((uint32_t)((x[i] - all.x0) * sx), (uint32_t)((y[i] - all.y0) * sy)), i};
  sort_along_curve(items, sorted, n);
  free(items);
  tree->x = checked(malloc(n * sizeof(double)));
  tree->y = checked(malloc(n * sizeof(double)));
  tree->rows = checked(malloc(n * sizeof(uint32_t)));
  for (uint32_t i = 0; i < n; i++) {
    tree->rows[i] = sorted[i].row;
    tree->x[i] = x[sorted[i].row];
    tree->y[i] = y[sorted[i].row];
  }
  free(sorted);
  uint32_t level = 0;
  do {
    uint32_t nodes = (n + FANOUT - 1) / FANOUT;
    tree->counts[level] = n;
    tree->bounds[level] = checked(malloc(nodes * sizeof(Bounds)));
    for (uint32_t node = 0; node < nodes; node++) {
      uint32_t from = node * FANOUT, to = from + FANOUT < n ? from + FANOUT : n;
      tree->bounds[level][node] =
          level ? around_boxes(tree->bounds[level - 1], from, to) : around_points(tree->x, tree->y, from, to);
    }
    n = nodes;
    level++;
  } while (n > 1);
  tree->levels = level;
}

// Rows of the points in `q`, edges included; `out` needs room for all points and one node more.
static uint32_t search_tree(const RTree *tree, uint32_t level, uint32_t node, Bounds q, uint32_t *out, uint32_t found) {
  uint32_t from = node * FANOUT, to = from + FANOUT < tree->counts[level] ? from + FANOUT : tree->counts[level];
  if (level == 0) {
    const double *x = tree->x, *y = tree->y;
    for (uint32_t i = from; i < to; i++) {
      out[found] = tree->rows[i];
      found += (x[i] >= q.x0) & (x[i] <= q.x1) & (y[i] >= q.y0) & (y[i] <= q.y1);
    }
    return found;
  }
  for (uint32_t i = from; i < to; i++) {
    const Bounds *b = &tree->bounds[level - 1][i];
    if ((b->x0 <= q.x1) & (b->x1 >= q.x0) & (b->y0 <= q.y1) & (b->y1 >= q.y0))
      found = search_tree(tree, level - 1, i, q, out, found);
  }
  return found;
}

static uint32_t search_all(const RTree *tree, Bounds q, uint32_t *out) {
  return tree->levels ? search_tree(tree, tree->levels - 1, 0, q, out, 0) : 0;
}

// A point near a place.
typedef struct { double square; uint32_t row; } Near;

// Keeps the `k` nearest sorted, ties by row; returns their number.
static uint32_t insert_near(Near *near, uint32_t n, uint32_t k, Near point) {
  uint32_t i = n < k ? n : k - 1;
  if (n == k && (point.square > near[i].square || (point.square == near[i].square && point.row > near[i].row))) return n;
  for (; i && (near[i - 1].square > point.square || (near[i - 1].square == point.square && near[i - 1].row > point.row)); i--)
    near[i] = near[i - 1];
  near[i] = point;
  return n < k ? n + 1 : k;
}

static double square_to_box(const Bounds *b, double x, double y) {
  double dx = b->x0 - x > x - b->x1 ? b->x0 - x : x - b->x1, dy = b->y0 - y > y - b->y1 ? b->y0 - y : y - b->y1;
  if (dx < 0) dx = 0;
  if (dy < 0) dy = 0;
  return dx * dx + dy * dy;
}

// Depth first, children by distance (Roussopoulos, Kelley, Vincent, "Nearest Neighbor Queries", SIGMOD 1995).
static uint32_t nearest_in_tree(
    const RTree *tree, uint32_t level, uint32_t node, double x, double y, uint32_t k, Near *near, uint32_t n) {
  uint32_t from = node * FANOUT, to = from + FANOUT < tree->counts[level] ? from + FANOUT : tree->counts[level];
  if (level == 0) {
    for (uint32_t i = from; i < to; i++) {
      double dx = tree->x[i] - x, dy = tree->y[i] - y, square = dx * dx + dy * dy;
      if (n < k || square <= near[n - 1].square) n = insert_near(near, n, k, (Near){square, tree->rows[i]});
    }
    return n;
  }
  Near children[FANOUT];
  uint32_t count = 0;
  for (uint32_t i = from; i < to; i++)
    count = insert_near(children, count, FANOUT, (Near){square_to_box(&tree->bounds[level - 1][i], x, y), i});
  for (uint32_t i = 0; i < count && (n < k || children[i].square <= near[n - 1].square); i++)
    n = nearest_in_tree(tree, level - 1, children[i].row, x, y, k, near, n);
  return n;
}

#endif
