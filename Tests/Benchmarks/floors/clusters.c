// The floor of clustering: a million points clustered for the zooms 16 to 0, a uniform grid for each zoom, and boxes of clusters.
//
// The same greedy rule as the server's (ClusterTree.swift): nodes in order, each takes those within the radius that are free. Cells are as wide
// as the radius, or wider where there would be more than two million of them; a counting sort puts nodes into them, so that a cell's
// nodes lie side by side. Nodes that nothing joins are copied to the next zoom.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ZOOMS = 17, MAX_SIDE = 1448 };

typedef struct { double x, y; uint32_t count; } Node;

// Nodes of a zoom in the order of their first points, and by cell.
typedef struct {
  uint32_t n, side;
  Node *nodes;
  uint32_t *starts, *members;
} Level;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *checked(void *p) {
  if (!p) exit(1);
  return p;
}

static uint64_t state = 42;
static double unit(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static uint32_t cell(double v, uint32_t side) {
  double c = v * side;
  return c <= 0 ? 0 : c >= side ? side - 1 : (uint32_t)c;
}

static void index_level(Level *l, double radius) {
  double side = floor(1 / radius);
  l->side = side < 1 ? 1 : side > MAX_SIDE ? MAX_SIDE : (uint32_t)side;
  uint32_t cells = l->side * l->side;
  l->starts = checked(calloc(cells + 1, 4));
  l->members = checked(malloc((size_t)l->n * 4 + 4));
  uint32_t *where = checked(malloc((size_t)l->n * 4 + 4));
  for (uint32_t i = 0; i < l->n; i++) {
    where[i] = cell(l->nodes[i].y, l->side) * l->side + cell(l->nodes[i].x, l->side);
    l->starts[where[i] + 1]++;
  }
  for (uint32_t c = 0; c < cells; c++) l->starts[c + 1] += l->starts[c];
  for (uint32_t i = l->n; i-- > 0;) l->members[--l->starts[where[i] + 1]] = i;
  // Each start has moved to that of its cell, one place to the right.
  memmove(l->starts, l->starts + 1, (size_t)cells * 4);
  l->starts[cells] = l->n;
  free(where);
}

// Clusters an indexed level into the next one.
static Level cluster(const Level *l, double radius) {
  Level next = {0};
  next.nodes = checked(malloc((size_t)l->n * sizeof(Node) + 1));
  uint8_t *taken = checked(calloc(l->n + 1, 1));
  double square = radius * radius;
  for (uint32_t i = 0; i < l->n; i++) {
    if (taken[i]) continue;
    taken[i] = 1;
    const Node *a = &l->nodes[i];
    double wx = a->x * a->count, wy = a->y * a->count;
    uint32_t count = a->count;
    uint32_t x0 = cell(a->x - radius, l->side), x1 = cell(a->x + radius, l->side);
    uint32_t y0 = cell(a->y - radius, l->side), y1 = cell(a->y + radius, l->side);
    for (uint32_t y = y0; y <= y1; y++) {
      for (uint32_t m = l->starts[y * l->side + x0]; m < l->starts[y * l->side + x1 + 1]; m++) {
        uint32_t k = l->members[m];
        if (taken[k]) continue;
        const Node *b = &l->nodes[k];
        double dx = a->x - b->x, dy = a->y - b->y;
        if (dx * dx + dy * dy > square) continue;
        taken[k] = 1;
        wx += b->x * b->count;
        wy += b->y * b->count;
        count += b->count;
      }
    }
    next.nodes[next.n++] = count > a->count ? (Node){wx / count, wy / count, count} : *a;
  }
  free(taken);
  next.nodes = checked(realloc(next.nodes, (size_t)next.n * sizeof(Node) + 1));
  return next;
}

int main(int argc, char **argv) {
  uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000;
  Level levels[ZOOMS + 1] = {0};
  Level *first = &levels[ZOOMS];
  first->n = n;
  first->nodes = checked(malloc((size_t)n * sizeof(Node)));
  for (uint32_t i = 0; i < n; i++) {
    double longitude = unit() * 360 - 180, latitude = unit() * 180 - 90, sine = sin(latitude * M_PI / 180);
    double y = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / M_PI;
    first->nodes[i] = (Node){longitude / 360 + 0.5, y < 0 ? 0 : y > 1 ? 1 : y, 1};
  }
  double begin = seconds();
  for (int zoom = ZOOMS - 1; zoom >= 0; zoom--) {
    double radius = 60.0 / 512 / (double)(1 << zoom);
    index_level(&levels[zoom + 1], radius);
    levels[zoom] = cluster(&levels[zoom + 1], radius);
  }
  index_level(&levels[0], 1);
  double build = seconds() - begin;
  printf("cluster_seconds %.6f\n", build);
  // A node more or less is the rounding of a coordinate.
  uint64_t nodes = 0;
  for (int zoom = 0; zoom < ZOOMS; zoom++) nodes += levels[zoom].n;
  printf("cluster_nodes %llu\n", (unsigned long long)nodes);
  return 0;
}
