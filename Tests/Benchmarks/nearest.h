// The nearest points of a place over the wire, one place a request.

#ifndef NEAREST_H
#define NEAREST_H

#include <jansson.h>

#include "wire.h"

enum { PLACES = 1000, NEIGHBOURS = 10 };

typedef struct { double x; uint32_t row; } Along;

typedef struct { double square; uint32_t row; } Neighbour;

static int by_x(const void *a, const void *b) {
  double p = ((const Along *)a)->x, q = ((const Along *)b)->x;
  return (p > q) - (p < q);
}

static void keep_nearer(Neighbour near[NEIGHBOURS], Neighbour point) {
  int i = NEIGHBOURS - 1;
  if (point.square >= near[i].square) return;
  for (; i && near[i - 1].square > point.square; i--) near[i] = near[i - 1];
  near[i] = point;
}

// The nearest of a place, by looking to both sides of it in the order of x.
static void expected_nearest(const Points *p, const Along *along, double x, double y, Neighbour near[NEIGHBOURS]) {
  uint32_t low = 0, high = p->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (along[middle].x < x) low = middle + 1;
    else high = middle;
  }
  for (int i = 0; i < NEIGHBOURS; i++) near[i].square = INFINITY;
  for (int side = 0; side < 2; side++)
    for (int64_t i = side ? (int64_t)low : (int64_t)low - 1; i >= 0 && i < p->count; i += side ? 1 : -1) {
      double dx = along[i].x - x, dy = p->y[along[i].row] - y;
      if (dx * dx > near[NEIGHBOURS - 1].square) break;
      keep_nearer(near, (Neighbour){dx * dx + dy * dy, along[i].row});
    }
}

static void expect_nearest(
    Frame frame, uint32_t id, const Neighbour near[NEIGHBOURS], int64_t (*id_of_row)(const void *, uint32_t),
    const void *loaded) {
  expect(frame, id);
  json_t *document = json_loadb(frame.data, frame.length, 0, NULL), *result = json_object_get(document, "result");
  json_t *ids = json_object_get(result, "ids"), *distances = json_object_get(result, "distances");
  if (json_array_size(ids) != NEIGHBOURS || json_array_size(distances) != NEIGHBOURS) fail("not %d near", NEIGHBOURS);
  for (int i = 0; i < NEIGHBOURS; i++) {
    double distance = sqrt(near[i].square);
    if (json_integer_value(json_array_get(ids, i)) != id_of_row(loaded, near[i].row) ||
        fabs(json_number_value(json_array_get(distances, i)) - distance) > 1e-15 * distance)
      fail("neighbour %d: %.*s", i, (int)frame.length, frame.data);
  }
  json_decref(document);
}

// Asks for the nearest of each place, one in flight; answers are checked when the clock has stopped.
static double ask_nearest(
    Server *s, int planar, const Points *p, const Along *along, int64_t (*id_of_row)(const void *, uint32_t),
    const void *loaded) {
  static Buffer messages[PLACES];
  static double times[PLACES], places[PLACES][2];
  static size_t starts[PLACES], lengths[PLACES];
  uint64_t state = 9;
  for (uint32_t i = 0; i < PLACES; i++) {
    Buffer *b = &messages[i];
    b->length = 0;
    places[i][0] = position(&state, 360);
    places[i][1] = position(&state, 180);
    begin_request(b, i + 10, "feature/nearest");
    b->length += (size_t)sprintf(
        reserve(b, 256),
        "{\"overlay\":\"o1\",\"locations\":{\"type\":\"Point\",\"coordinates\":[%.10g,%.10g]},\"limit\":%d%s}}",
        places[i][0], places[i][1], NEIGHBOURS, planar ? ",\"planar\":true" : "");
    frame_from(b, 0);
  }
  s->at = s->in.length = 0;
  memset(reserve(&s->in, 4 << 20), 0, 4 << 20);
  s->keeps = 1;
  for (uint32_t i = 0; i < PLACES; i++) {
    double start = now();
    transmit(s, messages[i].data, messages[i].length);
    Frame frame = next_answer(s);
    times[i] = now() - start;
    starts[i] = (size_t)(frame.data - s->in.data);
    lengths[i] = frame.length;
  }
  s->keeps = 0;
  for (uint32_t i = 0; i < PLACES; i++) {
    Frame frame = {s->in.data + starts[i], lengths[i]};
    Neighbour near[NEIGHBOURS];
    if (planar) {
      expected_nearest(p, along, places[i][0], places[i][1], near);
      expect_nearest(frame, i + 10, near, id_of_row, loaded);
    } else {
      expect(frame, i + 10);
    }
  }
  return median(times, PLACES);
}

// In the plane, and, of the server alone, on the ellipsoid.
static void ask_places(
    Server *s, int ellipsoid, const Points *p, int64_t (*id_of_row)(const void *, uint32_t), const void *loaded) {
  Along *along = checked(malloc(p->count * sizeof *along));
  for (uint32_t i = 0; i < p->count; i++) along[i] = (Along){p->x[i], i};
  qsort(along, p->count, sizeof *along, by_x);
  printf("nearest_microseconds %.2f\n", ask_nearest(s, 1, p, along, id_of_row, loaded) * 1e6);
  if (ellipsoid) printf("nearest_geodetic_microseconds %.2f\n", ask_nearest(s, 0, p, along, id_of_row, loaded) * 1e6);
  free(along);
}

#endif
