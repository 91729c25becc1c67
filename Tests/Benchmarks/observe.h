// Cost of subscriptions: a property set with few and with many of them, one notification, a long delta.

#ifndef OBSERVE_H
#define OBSERVE_H

#include "wire.h"

// Subscriptions are made on objects beside the one that changes, on its other members, and with wildcards.
static const char *const beside[] = {
    "/maps/m1/operationalLayers", "/maps/m1/spatialReference", "/maps/m2/title", "/maps/m2", "/views/*/viewpoint",
    "/views/v1/width", "/views/v1/viewpoint/targetScale", "/overlays/*/graphics/*", "/layers", "/*/*/opacity",
};

static void follow(Server *s, uint32_t id, const char *path) {
  char params[128];
  snprintf(params, sizeof params, "{\"paths\":[\"%s\"]}", path);
  call(s, id, "state/observe", params);
}

// Title that makes a notification about 175 bytes long.
static int title_of(char *text, uint32_t i) { return sprintf(text, "title %u", i % 10); }

// Seconds per set, 64 in flight, with given numbers of matching and other subscriptions.
static double set_seconds(char **command, uint32_t count, uint32_t matching, uint32_t others, double *bytes) {
  Server s = {0};
  Buffer all = {0};
  uint32_t window = 64, answered = 0, notified = 0, sent = 0;
  size_t *starts = checked(malloc((count + 1) * sizeof *starts)), notified_bytes = 0;
  for (uint32_t i = 0; i < count; i++) {
    char title[32];
    size_t start = starts[i] = all.length;
    title_of(title, i);
    begin_request(&all, i + 1000, "map/update");
    all.length += (size_t)sprintf(reserve(&all, 96), "{\"map\":\"m1\",\"title\":\"%s\"}}", title);
    frame_from(&all, start);
  }
  starts[count] = all.length;
  start_session(&s, command);
  call(&s, 3, "map/create", "{\"id\":\"m1\",\"title\":\"none\"}");
  call(&s, 4, "map/create", "{\"id\":\"m2\"}");
  call(&s, 5, "view/create", "{\"map\":\"m1\",\"id\":\"v1\"}");
  for (uint32_t i = 0; i < others; i++) follow(&s, 10 + i, beside[i % (sizeof beside / sizeof *beside)]);
  for (uint32_t i = 0; i < matching; i++) follow(&s, 500 + i, "/maps/m1/title");
  double start = now();
  while (answered < count) {
    uint32_t until = answered + window < count ? answered + window : count;
    transmit(&s, all.data + starts[sent], starts[until] - starts[sent]);
    sent = until;
    receive(&s);
    Frame frame;
    while (take(&s, &frame)) {
      if (memmem(frame.data, frame.length < 40 ? frame.length : 40, "\"method\"", 8)) {
        notified++;
        notified_bytes += frame.length;
      } else {
        expect(frame, 1000 + answered++);
      }
    }
  }
  double seconds = (now() - start) / count;
  if (notified != count * matching) fail("%u notifications instead of %u", notified, count * matching);
  if (bytes && notified) *bytes = (double)notified_bytes / notified;
  end_session(&s);
  free(all.data);
  free(starts);
  return seconds;
}

static void observe(char **command, uint32_t count) {
  double bytes = 0;
  double none = set_seconds(command, count, 0, 0, NULL), one = set_seconds(command, count, 1, 0, &bytes);
  double many = set_seconds(command, count, 1, 99, NULL), all = set_seconds(command, count, 21, 0, NULL);
  printf("set_microseconds %.3f\nset_observed_microseconds %.3f\n", none * 1e6, one * 1e6);
  printf("set_among_100_microseconds %.3f\n", many * 1e6);
  printf("first_notification_microseconds %.3f\n", (one - none) * 1e6);
  printf("notification_microseconds %.3f\nnotification_bytes %.0f\n", (all - one) / 20 * 1e6, bytes);
}

// MARK: - A long delta

enum { MOVED = 100000 };

static void append_zeros(Buffer *b, uint32_t count) {
  double *zeros = checked(calloc(count, sizeof *zeros));
  append_column(b, "float64", zeros, count);
  free(zeros);
}

static Frame ask_columns(Server *s, uint32_t id, const char *method, const int64_t *ids, double x, int waits) {
  Buffer b = {0};
  double *column = checked(malloc(MOVED * sizeof *column));
  for (uint32_t i = 0; i < MOVED; i++) column[i] = x + i * 1e-4;
  begin_request(&b, id, method);
  append_literal(&b, "{\"overlay\":\"o1\",");
  if (ids) {
    append_literal(&b, "\"ids\":");
    append_column(&b, "int64", ids, MOVED);
    append_literal(&b, ",");
  }
  append_literal(&b, "\"x\":");
  append_column(&b, "float64", column, MOVED);
  append_literal(&b, ",\"y\":");
  append_zeros(&b, MOVED);
  append_literal(&b, "}}");
  frame_from(&b, 0);
  transmit(s, b.data, b.length);
  free(b.data);
  free(column);
  return waits ? next_answer(s) : (Frame){0};
}

// Moves 100,000 graphics that one subscription observes. From the first part of the delta until the answer, sends `session/echo`,
// one in flight: its answer is never held back, so the longest answer time is the longest time that the loop was busy.
static void long_delta(char **command) {
  Server s = {0};
  int64_t *ids = checked(malloc(MOVED * sizeof *ids));
  start_session(&s, command);
  call(&s, 3, "map/create", "{\"id\":\"m1\"}");
  call(&s, 4, "view/create", "{\"map\":\"m1\",\"id\":\"v1\"}");
  call(&s, 5, "overlay/create", "{\"view\":\"v1\",\"id\":\"o1\"}");
  Frame frame = ask_columns(&s, 6, "overlay/addColumns", NULL, 0, 1);
  expect(frame, 6);
  const char *first = memmem(frame.data, frame.length, "\"firstId\":", 10);
  if (!first) fail("no firstId");
  for (int64_t i = 0; i < MOVED; i++) ids[i] = strtoll(first + 10, NULL, 10) + i;
  follow(&s, 7, "/overlays/o1");
  // The snapshot has parts as well; it has ended when an answer arrives that follows a delta behind the snapshot.
  call(&s, 12, "overlay/update", "{\"overlay\":\"o1\",\"name\":\"points\"}");
  double start = now(), asked = 0, longest = 0, total = 0;
  uint32_t parts = 0, echoes = 0, asked_echoes = 0;
  int is_last = 0;
  ask_columns(&s, 13, "overlay/updateColumns", ids, 10, 0);
  for (;;) {
    while (!take(&s, &frame)) receive(&s);
    const char *head = memmem(frame.data, frame.length < 40 ? frame.length : 40, "\"method\"", 8);
    if (head) {
      parts++;
      if (is_last) fail("a part behind the last");
      is_last = memmem(frame.data + frame.length - 40, 40, "\"isLast\":true", 13) != NULL;
      if (parts > 1) continue;
    } else if (memmem(frame.data, frame.length, "\"id\":13,", 8)) {
      expect(frame, 13);
      break;
    } else {
      double waited = now() - asked;
      expect(frame, 1000 + echoes++);
      total += waited;
      if (waited > longest) longest = waited;
    }
    if (is_last) continue;
    Buffer b = {0};
    begin_request(&b, 1000 + echoes, "session/echo");
    append_literal(&b, "{}}");
    frame_from(&b, 0);
    asked = now();
    asked_echoes++;
    transmit(&s, b.data, b.length);
    free(b.data);
  }
  printf("delta_seconds %.4f\ndelta_parts %u\n", now() - start, parts);
  // The last echo may still be in flight.
  if (echoes < asked_echoes) expect(next_answer(&s), 1000 + echoes);
  if (!is_last || parts < 2) fail("answered before the delta was sent: %u parts", parts);
  printf("held_milliseconds %.3f\nheld_mean_milliseconds %.3f\nechoes %u\n", longest * 1e3,
         echoes ? total / echoes * 1e3 : 0, echoes);
  end_session(&s);
  free(ids);
}

#endif
