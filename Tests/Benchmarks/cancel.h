// Cancelling what takes long: how soon it is answered, and how soon the worker is back.

#ifndef CANCEL_H
#define CANCEL_H

#include <jansson.h>

#include "wire.h"

enum { AREAS = 10000, CORNERS = 12, CANCEL_PLACES = 100000, LONGEST_WAIT = 121 };

// Overlapping polygons of about 750 points each, of a million.
static void add_areas(Server *s) {
  uint64_t state = 5;
  call(s, 10, "overlay/create", "{\"view\":\"v1\",\"id\":\"areas\"}");
  for (uint32_t first = 0; first < AREAS; first += OBJECTS_A_MESSAGE) {
    Buffer b = {0};
    begin_request(&b, 11, "overlay/addGraphics");
    append_literal(&b, "{\"overlay\":\"areas\",\"graphics\":[");
    for (uint32_t i = 0; i < OBJECTS_A_MESSAGE; i++) {
      double x = position(&state, 350), y = position(&state, 170);
      if (i) append_literal(&b, ",");
      append_literal(&b, "{\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[");
      for (int corner = 0; corner <= CORNERS; corner++) {
        double angle = 2 * M_PI * (corner % CORNERS) / CORNERS;
        b.length += (size_t)sprintf(
            reserve(&b, 64), "%s[%.7f,%.7f]", corner ? "," : "", x + 4 * cos(angle), y + 4 * sin(angle));
      }
      append_literal(&b, "]]}}");
    }
    append_literal(&b, "]}}");
    frame_from(&b, 0);
    transmit(s, b.data, b.length);
    free(b.data);
    expect(next_answer(s), 11);
  }
}

static Buffer places_params(void) {
  Buffer b = {0};
  uint64_t state = 9;
  append_literal(&b, "{\"overlay\":\"o1\",\"limit\":10,\"locations\":{\"type\":\"MultiPoint\",\"coordinates\":[");
  for (uint32_t i = 0; i < CANCEL_PLACES; i++) {
    double x = position(&state, 360), y = position(&state, 180);
    b.length += (size_t)sprintf(reserve(&b, 64), "%s[%.7f,%.7f]", i ? "," : "", x, y);
  }
  append(&b, "]}}", 4);
  return b;
}

// Cancels a request a little after it was sent, several times. The worker is back when no work is under way; then it is asked something.
static void cancel_work(Server *s, uint32_t points, const char *label, const char *method, const char *params) {
  static const char cancel[] = "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":20}}";
  double answered = 0, back = 0;
  for (int wait = 1; wait <= LONGEST_WAIT; wait += 24) {
    send_request(s, 20, method, params);
    // A large request is read first: the answer to this says that it has begun.
    if (strlen(params) > 65536) call(s, 21, "session/echo", "{}");
    poll(NULL, 0, wait);
    Buffer b = {0};
    append(&b, cancel, sizeof cancel - 1);
    frame_from(&b, 0);
    double start = now();
    transmit(s, b.data, b.length);
    free(b.data);
    Frame frame = next_answer(s);
    double seconds = now() - start;
    if (!memmem(frame.data, frame.length, "-32800", 6)) {
      // Over few points, as in a quick run, it may be done before.
      if (points < 1000000) break;
      fail("%s is not cancelled after %d ms: %.200s", method, wait, frame.data);
    }
    if (seconds > answered) answered = seconds;
    for (frame = call(s, 22, "session/status", "{}"); !memmem(frame.data, frame.length, "\"working\":0", 11);) {
      poll(NULL, 0, 1);
      frame = call(s, 22, "session/status", "{}");
    }
    call(s, 23, "feature/queryCount", "{\"overlay\":\"o1\",\"whereClause\":\"rank > 5000000\"}");
    seconds = now() - start;
    if (seconds > back) back = seconds;
  }
  printf("cancel_%s_milliseconds %.3f\nworker_%s_milliseconds %.3f\n", label, answered * 1e3, label, back * 1e3);
}

static void cancel_all(Server *s, uint32_t points) {
  cancel_work(
      s, points, "filter", "feature/queryDistinctValues",
      "{\"overlay\":\"o1\",\"fields\":[\"name\",\"rank\"],\"orderBy\":[{\"field\":\"rank\"}]}");
  Buffer places = places_params();
  cancel_work(s, points, "nearest", "feature/nearest", places.data);
  free(places.data);
  add_areas(s);
  cancel_work(
      s, points, "join", "feature/join",
      "{\"overlay\":\"o1\",\"join\":{\"overlay\":\"areas\"},\"relationship\":\"within\",\"limit\":1}");
  call(s, 12, "overlay/update", "{\"overlay\":\"o1\",\"featureReduction\":{}}");
  cancel_work(s, points, "clusters", "cluster/query", "{\"overlay\":\"o1\",\"zoom\":3}");
  call(s, 13, "overlay/update", "{\"overlay\":\"o1\",\"clear\":[\"featureReduction\"]}");
  // No point is drawn, so all near the middle of the view are looked at.
  call(
      s, 14, "overlay/update",
      "{\"overlay\":\"o1\",\"renderer\":{\"type\":\"uniqueValue\",\"fields\":[\"name\"],\"uniqueValues\":[{\"values\":[\"none\"],"
      "\"symbol\":{\"type\":\"simpleMarker\"}}]}}");
  call(
      s, 15, "view/setViewpoint",
      "{\"view\":\"v1\",\"viewpoint\":{\"type\":\"centerAndScale\",\"center\":{\"type\":\"Point\",\"coordinates\":[0,0]},\"targetScale\":4000000000}}");
  cancel_work(
      s, points, "identify", "view/identify",
      "{\"view\":\"v1\",\"overlay\":\"o1\",\"screenPoint\":{\"x\":400,\"y\":300},\"tolerance\":100}");
}

#endif
