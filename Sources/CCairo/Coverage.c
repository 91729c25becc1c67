// Fills and strokes small shapes, and strokes of very many vertices, for which Cairo needs ten times as long: the signed areas that
// edges cover of cells are added up, as FreeType and AGG do it.
#include "CCairo.h"
#include "Pixels.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Units of y to a pixel. Areas are whole numbers of 1/65536, so that those of a closed outline add up to 0 exactly.
enum { STEPS = 256, WHOLE = STEPS * STEPS };

// A corner of an outline: x in pixels from the left of the cells, y in steps from the top of the picture.
struct corner {
  double x;
  int32_t y;
};

struct vector {
  double x, y;
};

struct cells {
  int32_t *_Nonnull first;
  int32_t width, height;
  // From row to row: one edge may end right of the last.
  ptrdiff_t stride;
  // Of the first row.
  int32_t top;
  // What is added to places.
  struct vector shift;
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

// An edge that goes down, right of the left side and left of the right one. In each row it is the same, whatever other rows there are.
static void add_inside(const struct cells *cells, struct corner from, struct corner to, int32_t sign) {
  int32_t top = cells->top * STEPS, bottom = top + cells->height * STEPS;
  if (from.y >= to.y || to.y <= top || from.y >= bottom) return;
  double slope = (to.x - from.x) / (to.y - from.y), x = from.x;
  int32_t y = from.y, last = to.y < bottom ? to.y : bottom;
  if (y < top) {
    x = from.x + slope * (top - from.y);
    x = x < 0 ? 0 : x > cells->width ? cells->width : x;
    y = top;
  }
  int32_t *row = cells->first + ((y - top) / STEPS) * cells->stride;
  for (; y < last; row += cells->stride) {
    int32_t end = top + ((y - top) / STEPS + 1) * STEPS;
    if (end > last) end = last;
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
  if (from.y == to.y) return;
  double slope = (to.x - from.x) / (to.y - from.y);
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

static inline struct corner corner_at(const struct cells *cells, struct vector place, struct vector side) {
  double x = place.x + side.x, y = place.y + side.y;
  x += cells->shift.x;
  y += cells->shift.y;
  return (struct corner){x, (int32_t)lrint(y * STEPS)};
}

static inline struct vector opposite(struct vector v) { return (struct vector){-v.x, -v.y}; }

// The outer side of a join, or a cap: an arc around a place, in parts that differ from it by a sixteenth of a pixel at most.
static void add_arc(const struct cells *cells, struct vector at, struct vector from, struct vector to, double radius, double sign) {
  double limit = 1 - 0.0625 / radius, cosine = (from.x * to.x + from.y * to.y) / (radius * radius);
  struct corner start = corner_at(cells, at, from);
  if (limit < 0.1) limit = 0.1;
  if (cosine < 2 * limit * limit - 1) {
    double angle = acos(cosine < -1 ? -1 : cosine);
    int parts = (int)ceil(angle / (2 * acos(limit)));
    double c = cos(angle / parts), s = sign * sin(angle / parts);
    for (int part = 1; part < parts; part++) {
      from = (struct vector){from.x * c - from.y * s, from.x * s + from.y * c};
      struct corner next = corner_at(cells, at, from);
      add_edge(cells, start, next);
      start = next;
    }
  }
  add_edge(cells, start, corner_at(cells, at, to));
}

// The outline of the place where two parts of a line meet; vectors point from the line to its one side, with the length of half its width.
static void add_join(const struct cells *cells, struct vector at, struct vector one, struct vector other, double radius, bool is_long) {
  double turn = one.x * other.y - one.y * other.x;
  bool is_flat = is_long && one.x * other.x + one.y * other.y > 0.5 * radius * radius;
  const struct vector none = {0, 0};
  // The inner side goes through the place itself, unless both parts reach beyond where their sides cross.
  struct corner middle = corner_at(cells, at, none);
  if (turn >= 0) {
    struct corner start = corner_at(cells, at, other), end = corner_at(cells, at, one);
    add_arc(cells, at, opposite(one), opposite(other), radius, 1);
    if (is_flat) return add_edge(cells, start, end);
    add_edge(cells, start, middle);
    add_edge(cells, middle, end);
  } else {
    struct corner start = corner_at(cells, at, opposite(one)), end = corner_at(cells, at, opposite(other));
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
    add_edge(cells, corner_at(cells, places[i], opposite(side)), corner_at(cells, places[i + 1], opposite(side)));
    add_edge(cells, corner_at(cells, places[i + 1], side), corner_at(cells, places[i], side));
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

static bool grow(void **memory, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return true;
  size_t wanted = count + count / 2 + 256;
  void *grown = realloc(*memory, wanted * size);
  if (!grown) return false;
  *memory = grown;
  *capacity = wanted;
  return true;
}

bool ccairo_begin_shape(struct ccairo_shapes *shapes) {
  if (!grow((void **)&shapes->shapes, &shapes->shape_capacity, shapes->shape_count + 1, sizeof(struct ccairo_shape))) return false;
  struct ccairo_shape *shape = shapes->shapes + shapes->shape_count;
  *shape = (struct ccairo_shape){shapes->run_count, shapes->run_count, shapes->count, INFINITY, INFINITY, -INFINITY, -INFINITY, 0, 0};
  return true;
}

bool ccairo_add_run(struct ccairo_shapes *shapes, const float *positions, size_t count, double scale) {
  if (!grow((void **)&shapes->places, &shapes->capacity, 2 * (shapes->count + count), sizeof(double)) ||
      !grow((void **)&shapes->runs, &shapes->run_capacity, shapes->run_count + 1, sizeof(size_t)))
    return false;
  struct ccairo_shape *shape = shapes->shapes + shapes->shape_count;
  double *start = shapes->places + 2 * shapes->count, *end = start;
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
  shapes->count += (size_t)(end - start) / 2;
  shapes->runs[shapes->run_count++] = shapes->count;
  return true;
}

bool ccairo_end_shape(struct ccairo_shapes *shapes, int32_t left, int32_t top, int32_t right, int32_t bottom, double width, uint32_t color) {
  const double radius = width / 2, limit = 1 << 20;
  struct ccairo_shape *shape = shapes->shapes + shapes->shape_count;
  double across = fmin(ceil(shape->right + radius), right) - fmax(floor(shape->left - radius), left);
  double down = fmin(ceil(shape->bottom + radius), bottom) - fmax(floor(shape->top - radius), top);
  bool is_seen = across > 0 && down > 0;
  bool is_far = shape->left < -limit || shape->top < -limit || shape->right > limit || shape->bottom > limit || radius > limit;
  bool is_own = !is_seen || (!is_far && across * down <= 4096 + 64.0 * (double)(shapes->count - shape->start));
  if (!is_own || !is_seen) {
    shapes->count = shape->start;
    shapes->run_count = shape->first_run;
    return is_own;
  }
  shape->end_run = shapes->run_count;
  shape->radius = radius;
  shape->color = color;
  shapes->shape_count++;
  return true;
}

// Rows of a picture for one thread.
struct band {
  const struct ccairo_shapes *shapes;
  const struct ccairo_target *target;
  int32_t top, bottom;
  double dx, dy;
  int32_t *cells;
  size_t capacity;
  bool is_done;
};

static bool paint_shape(struct band *band, const struct ccairo_shape *shape) {
  const struct ccairo_shapes *shapes = band->shapes;
  const struct ccairo_target *target = band->target;
  const double radius = shape->radius;
  double left = fmax(floor(shape->left + band->dx - radius), target->left), right = fmin(ceil(shape->right + band->dx + radius), target->right);
  double top = fmax(floor(shape->top + band->dy - radius), band->top), bottom = fmin(ceil(shape->bottom + band->dy + radius), band->bottom);
  if (left >= right || top >= bottom) return true;
  struct cells cells = {band->cells, (int32_t)(right - left), (int32_t)(bottom - top), (ptrdiff_t)(right - left) + 2, (int32_t)top,
                        {band->dx - left, band->dy}};
  size_t known = band->capacity;
  if (!grow((void **)&band->cells, &band->capacity, (size_t)cells.stride * (size_t)cells.height, sizeof(int32_t))) return false;
  memset(band->cells + known, 0, (band->capacity - known) * sizeof(int32_t));
  cells.first = band->cells;
  // Shapes are anywhere in the picture: its pixels are under way while the cells are filled.
  uint32_t *pixels = target->pixels + (ptrdiff_t)top * target->stride + (ptrdiff_t)left;
  for (int32_t y = 0; y < cells.height && y < 64; y++) {
    __builtin_prefetch(pixels + y * target->stride, 1);
    __builtin_prefetch(pixels + y * target->stride + cells.width - 1, 1);
  }
  const struct vector *places = (const struct vector *)(const void *)shapes->places, none = {0, 0};
  size_t start = shape->start;
  for (size_t run = shape->first_run; run < shape->end_run; run++) {
    size_t end = shapes->runs[run];
    if (radius > 0) {
      add_stroke(&cells, places + start, end - start, radius);
    } else {
      struct corner last = corner_at(&cells, places[end - 1], none);
      for (size_t i = start; i < end; i++) {
        struct corner next = corner_at(&cells, places[i], none);
        add_edge(&cells, last, next);
        last = next;
      }
    }
    start = end;
  }
  paint(&cells, pixels, target->stride, shape->color, radius > 0);
  return true;
}

static void *paint_band(void *argument) {
  struct band *band = argument;
  band->is_done = true;
  for (size_t i = 0; i < band->shapes->shape_count && band->is_done; i++) band->is_done = paint_shape(band, band->shapes->shapes + i);
  free(band->cells);
  return NULL;
}

enum { MOST_BANDS = 8 };

// The first row of each band but the first: bands have equal shares of the positions, by the middles of their shapes.
static void divide(struct band *bands, int count) {
  const struct ccairo_shapes *shapes = bands[0].shapes;
  enum { PARTS = 64 };
  size_t sums[PARTS] = {0}, all = 0;
  const int32_t top = bands[0].top, rows = bands[0].bottom - top;
  for (size_t i = 0; i < shapes->shape_count; i++) {
    const struct ccairo_shape *shape = shapes->shapes + i;
    double part = ((shape->top + shape->bottom) / 2 + bands[0].dy - top) / rows * PARTS;
    sums[part > 0 ? part < PARTS - 1 ? (int)part : PARTS - 1 : 0] += shapes->runs[shape->end_run - 1] - shape->start;
  }
  int next = 1;
  for (int part = 0; part < PARTS && next < count; part++) {
    all += sums[part];
    while (next < count && all * (size_t)count >= shapes->count * (size_t)next) bands[next++].top = top + (int32_t)((int64_t)rows * (2 * part + 1) / (2 * PARTS));
  }
  for (int i = 0; i < count; i++) {
    if (i >= next) bands[i].top = bands[0].bottom;
    if (i > 0) bands[i - 1].bottom = bands[i].top;
  }
}

bool ccairo_paint_shapes(struct ccairo_shapes *shapes, const struct ccairo_target *target, double dx, double dy, int threads) {
  // A thread takes as long to begin as some hundred positions.
  int count = threads > MOST_BANDS ? MOST_BANDS : shapes->count < 2048 || threads < 1 ? 1 : threads;
  struct band bands[MOST_BANDS];
  pthread_t handles[MOST_BANDS];
  bool is_done = true;
  for (int i = 0; i < count; i++) bands[i] = (struct band){shapes, target, target->top, target->bottom, dx, dy, NULL, 0, false};
  if (count > 1) divide(bands, count);
  int begun = 1;
  while (begun < count && !pthread_create(&handles[begun], NULL, paint_band, &bands[begun])) begun++;
  paint_band(&bands[0]);
  for (int i = begun; i < count; i++) paint_band(&bands[i]);
  for (int i = 1; i < begun; i++) pthread_join(handles[i], NULL);
  for (int i = 0; i < count; i++) is_done &= bands[i].is_done;
  shapes->count = shapes->run_count = shapes->shape_count = 0;
  return is_done;
}
