// Fills and strokes small shapes, and strokes of very many vertices, for which Cairo needs ten times as long: the signed areas that
// edges cover of cells are added up, as FreeType and AGG do it.
#include "CCairo.h"
#include "Pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Units of y to a pixel. Areas are whole numbers of 1/65536, so that those of a closed outline add up to 0 exactly.
enum { STEPS = 256, WHOLE = STEPS * STEPS };

// A corner of an outline: x in pixels and y in steps from the corner of the cells.
struct corner {
  double x;
  int32_t y;
};

struct cells {
  int32_t *_Nonnull first;
  // Of a row; one more than are painted.
  int32_t width, height;
  ptrdiff_t stride;
};

static inline void add(int32_t *cell, int32_t area) { *cell = (int32_t)((uint32_t)*cell + (uint32_t)area); }

// Adds what is right of a part of an edge within one row, which covers `cover` of its height.
static inline void add_part(int32_t *row, double from, double to, int32_t cover) {
  double low = from < to ? from : to, high = from < to ? to : from;
  int32_t column = (int32_t)low;
  if (high <= column + 1) {
    int32_t rest = (int32_t)(cover * ((low + high) * 0.5 - column));
    add(row + column, cover - rest);
    add(row + column + 1, rest);
    return;
  }
  double slope = cover / (high - low);
  int32_t done = (int32_t)(0.5 * slope * (column + 1 - low) * (column + 1 - low));
  add(row + column, done);
  for (column++; column + 1 < high; column++) {
    int32_t next = (int32_t)(slope * (column + 0.5 - low));
    add(row + column, next - done);
    done = next;
  }
  int32_t next = cover - (int32_t)(0.5 * slope * (high - column) * (high - column));
  add(row + column, next - done);
  add(row + column + 1, cover - next);
}

// An edge that goes down within the cells.
static void add_inside(const struct cells *cells, struct corner from, struct corner to, int32_t sign) {
  if (from.y >= to.y) return;
  double slope = (to.x - from.x) / (to.y - from.y), x = from.x;
  int32_t *row = cells->first + (from.y / STEPS) * cells->stride;
  for (int32_t y = from.y; y < to.y; row += cells->stride) {
    int32_t end = (y / STEPS + 1) * STEPS;
    if (end > to.y) end = to.y;
    double next = end == to.y ? to.x : from.x + slope * (end - from.y);
    next = next < 0 ? 0 : next > cells->width ? cells->width : next;
    add_part(row, x, next, sign * (end - y) * STEPS);
    x = next;
    y = end;
  }
}

static void add_edge(const struct cells *cells, struct corner from, struct corner to) {
  int32_t sign = 1;
  if (from.y > to.y) {
    struct corner other = from;
    from = to;
    to = other;
    sign = -1;
  }
  const int32_t bottom = cells->height * STEPS;
  if (from.y == to.y || to.y <= 0 || from.y >= bottom) return;
  double slope = (to.x - from.x) / ((double)to.y - from.y);
  if (from.y < 0) from.x -= slope * from.y, from.y = 0;
  if (to.y > bottom) to.x -= slope * (to.y - bottom), to.y = bottom;
  // What is to the left covers the whole row, what is to the right nothing.
  for (int side = 0; side < 2; side++) {
    double edge = side ? cells->width : 0;
    bool is_from_out = side ? from.x > edge : from.x < edge, is_to_out = side ? to.x > edge : to.x < edge;
    if (!is_from_out && !is_to_out) continue;
    struct corner cut = {edge, is_from_out && is_to_out ? to.y : from.y + (int32_t)((edge - from.x) / slope)};
    cut.y = cut.y < from.y ? from.y : cut.y > to.y ? to.y : cut.y;
    if (is_from_out) {
      if (!side) add_inside(cells, (struct corner){0, from.y}, cut, sign);
      from = cut;
    } else {
      if (!side) add_inside(cells, cut, (struct corner){0, to.y}, sign);
      to = cut;
    }
    if (from.y == to.y) return;
  }
  add_inside(cells, from, to, sign);
}

struct vector {
  double x, y;
};

static inline struct corner corner_at(struct vector place, struct vector shift) {
  // Edges beyond are far outside of the cells.
  const double limit = 1 << 20;
  double x = place.x + shift.x, y = place.y + shift.y;
  y = y < -limit ? -limit : y > limit ? limit : y;
  return (struct corner){x, (int32_t)lrint(y * STEPS)};
}

static inline struct vector opposite(struct vector v) { return (struct vector){-v.x, -v.y}; }

// The outer side of a join, or a cap: an arc around a place, in parts that differ from it by a sixteenth of a pixel at most.
static void add_arc(const struct cells *cells, struct vector at, struct vector from, struct vector to, double radius, double sign) {
  double limit = 1 - 0.0625 / radius, cosine = (from.x * to.x + from.y * to.y) / (radius * radius);
  struct corner start = corner_at(at, from);
  if (limit < 0.1) limit = 0.1;
  if (cosine < 2 * limit * limit - 1) {
    double angle = acos(cosine < -1 ? -1 : cosine);
    int parts = (int)ceil(angle / (2 * acos(limit)));
    double c = cos(angle / parts), s = sign * sin(angle / parts);
    for (int part = 1; part < parts; part++) {
      from = (struct vector){from.x * c - from.y * s, from.x * s + from.y * c};
      struct corner next = corner_at(at, from);
      add_edge(cells, start, next);
      start = next;
    }
  }
  add_edge(cells, start, corner_at(at, to));
}

// The outline of the place where two parts of a line meet; vectors point from the line to its one side, with the length of half its width.
static void add_join(const struct cells *cells, struct vector at, struct vector one, struct vector other, double radius, bool is_long) {
  double turn = one.x * other.y - one.y * other.x;
  bool is_flat = is_long && one.x * other.x + one.y * other.y > 0.5 * radius * radius;
  const struct vector none = {0, 0};
  // The inner side goes through the place itself, unless both parts reach beyond where their sides cross.
  struct corner middle = corner_at(at, none);
  if (turn >= 0) {
    struct corner start = corner_at(at, other), end = corner_at(at, one);
    add_arc(cells, at, opposite(one), opposite(other), radius, 1);
    if (is_flat) return add_edge(cells, start, end);
    add_edge(cells, start, middle);
    add_edge(cells, middle, end);
  } else {
    struct corner start = corner_at(at, opposite(one)), end = corner_at(at, opposite(other));
    add_arc(cells, at, other, one, radius, 1);
    if (is_flat) return add_edge(cells, start, end);
    add_edge(cells, start, middle);
    add_edge(cells, middle, end);
  }
}

// Outlines a line with round joins and caps: a box for each of its parts, and what is between them.
static void add_stroke(const struct cells *cells, const struct vector *places, size_t count, double radius) {
  if (count == 1) {
    struct vector up = {0, -radius};
    add_arc(cells, places[0], up, opposite(up), radius, 1);
    return add_arc(cells, places[0], opposite(up), up, radius, 1);
  }
  bool is_closed = count > 2 && places[0].x == places[count - 1].x && places[0].y == places[count - 1].y;
  struct vector first = {0, 0}, last = {0, 0};
  double first_length = 0, last_length = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    struct vector along = {places[i + 1].x - places[i].x, places[i + 1].y - places[i].y};
    double length = sqrt(along.x * along.x + along.y * along.y), share = radius / length;
    struct vector side = {-along.y * share, along.x * share};
    add_edge(cells, corner_at(places[i], opposite(side)), corner_at(places[i + 1], opposite(side)));
    add_edge(cells, corner_at(places[i + 1], side), corner_at(places[i], side));
    if (i > 0)
      add_join(cells, places[i], last, side, radius, length > radius && last_length > radius);
    else
      first = side, first_length = length;
    last = side;
    last_length = length;
  }
  if (is_closed) return add_join(cells, places[0], last, first, radius, first_length > radius && last_length > radius);
  add_arc(cells, places[0], first, opposite(first), radius, 1);
  add_arc(cells, places[count - 1], opposite(last), last, radius, 1);
}

// How much of a cell is inside, of 255.
static inline uint32_t share_of(int32_t sum, bool is_stroke) {
  uint32_t area = sum < 0 ? 0 - (uint32_t)sum : (uint32_t)sum;
  if (!is_stroke) {
    area &= 2 * WHOLE - 1;
    area = area > WHOLE ? 2 * WHOLE - area : area;
  }
  area = area > WHOLE ? WHOLE : area;
  return ((area << 8) - area + WHOLE / 2) >> 16;
}

// Paints the cells and clears them.
static void paint(const struct cells *cells, uint32_t *pixels, ptrdiff_t stride, uint32_t color, bool is_stroke) {
  color = premultiplied(color);
  int32_t *row = cells->first;
  for (int32_t y = 0; y < cells->height; y++, row += cells->stride, pixels += stride) {
    int32_t sum = 0, first = 0, last = cells->width;
    while (first < last && !row[first]) first++;
    for (int32_t x = first; x < last;) {
      add(&sum, row[x]);
      uint32_t share = share_of(sum, is_stroke);
      // Most cells are like the one before.
      int32_t end = x + 1;
      while (end < last && !row[end]) end++;
      if (share == 255 && color >> 24 == 255) {
        for (; x < end; x++) pixels[x] = color;
      } else if (share) {
        uint32_t part = times(color, share);
        for (; x < end; x++) pixels[x] = over(part, pixels[x]);
      }
      x = end;
    }
    memset(row, 0, (size_t)cells->stride * sizeof *row);
  }
}

void ccairo_begin_shape(struct ccairo_shape *shape) {
  shape->count = shape->run_count = 0;
  shape->left = shape->top = INFINITY;
  shape->right = shape->bottom = -INFINITY;
}

static bool grow(void **memory, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return true;
  size_t wanted = count + count / 2 + 256;
  void *grown = realloc(*memory, wanted * size);
  if (!grown) return false;
  *memory = grown;
  *capacity = wanted;
  return true;
}

bool ccairo_add_run(struct ccairo_shape *shape, const float *positions, size_t count, double scale) {
  if (!grow((void **)&shape->places, &shape->capacity, 2 * (shape->count + count), sizeof(double)) ||
      !grow((void **)&shape->runs, &shape->run_capacity, shape->run_count + 1, sizeof(size_t)))
    return false;
  double *start = shape->places + 2 * shape->count, *end = start;
  for (size_t i = 0; i < count; i++) {
    double x = positions[2 * i] * scale, y = positions[2 * i + 1] * scale;
    if (!isfinite(x) || !isfinite(y)) continue;
    if (end > start) {
      double dx = fabs(x - end[-2]), dy = fabs(y - end[-1]);
      if ((dx < 0.25 && dy < 0.25 && i + 1 < count) || (dx == 0 && dy == 0)) continue;
    }
    *end++ = x;
    *end++ = y;
    shape->left = fmin(shape->left, x);
    shape->right = fmax(shape->right, x);
    shape->top = fmin(shape->top, y);
    shape->bottom = fmax(shape->bottom, y);
  }
  if (end == start) return true;
  shape->count += (size_t)(end - start) / 2;
  shape->runs[shape->run_count++] = shape->count;
  return true;
}

bool ccairo_paint_shape(struct ccairo_shape *shape, const struct ccairo_target *target, double dx, double dy, double width, uint32_t color) {
  const double radius = width / 2, limit = 1 << 20;
  if (!shape->run_count) return true;
  double left = fmax(floor(shape->left + dx - radius), target->left), right = fmin(ceil(shape->right + dx + radius), target->right);
  double top = fmax(floor(shape->top + dy - radius), target->top), bottom = fmin(ceil(shape->bottom + dy + radius), target->bottom);
  if (left >= right || top >= bottom) return true;
  if (shape->left < -limit || shape->top < -limit || shape->right > limit || shape->bottom > limit) return false;
  if ((right - left) * (bottom - top) > 4096 + 64.0 * (double)shape->count) return false;
  struct cells cells = {NULL, (int32_t)(right - left), (int32_t)(bottom - top), (ptrdiff_t)(right - left) + 2};
  size_t known = shape->cell_capacity, wanted = (size_t)cells.stride * (size_t)cells.height;
  if (!grow((void **)&shape->cells, &shape->cell_capacity, wanted, sizeof(int32_t))) return false;
  memset(shape->cells + known, 0, (shape->cell_capacity - known) * sizeof(int32_t));
  cells.first = shape->cells;
  // Shapes are anywhere in the picture: its pixels are under way while the cells are filled.
  uint32_t *pixels = target->pixels + (ptrdiff_t)top * target->stride + (ptrdiff_t)left;
  for (int32_t y = 0; y < cells.height && y < 64; y++) {
    __builtin_prefetch(pixels + y * target->stride, 1);
    __builtin_prefetch(pixels + y * target->stride + cells.width - 1, 1);
  }
  const struct vector shift = {dx - left, dy - top}, none = {0, 0};
  struct vector *places = (struct vector *)(void *)shape->places;
  for (size_t i = 0; i < shape->count; i++) places[i] = (struct vector){places[i].x + shift.x, places[i].y + shift.y};
  for (size_t run = 0, start = 0; run < shape->run_count; start = shape->runs[run++]) {
    size_t end = shape->runs[run];
    if (width > 0) {
      add_stroke(&cells, places + start, end - start, radius);
      continue;
    }
    struct corner last = corner_at(places[end - 1], none);
    for (size_t i = start; i < end; i++) {
      struct corner next = corner_at(places[i], none);
      add_edge(&cells, last, next);
      last = next;
    }
  }
  paint(&cells, pixels, target->stride, color, width > 0);
  return true;
}
