// Many objects: undo of their creations, and how long the loop is held while another document takes their place.

#ifndef OBJECTS_H
#define OBJECTS_H

#include "wire.h"

// How objects of a kind are made; the id is in front of `members`.
static const struct {
  const char *name, *method, *members;
} object_kinds[] = {
    {"map", "map/create", ""},
    {"layer", "layer/add", ",\"map\":\"m1\",\"source\":\"s1\""},
    {"group", "layer/addGroup", ",\"map\":\"m1\""},
    {"overlay", "overlay/create", ",\"view\":\"v1\""},
    {"view_model", "viewModel/create", ",\"properties\":[{\"name\":\"p\",\"type\":\"integer\"}]"},
};
enum { OBJECT_KINDS = sizeof object_kinds / sizeof *object_kinds, A_STEP = 50000, A_DOCUMENT = 100000 };

static void prepare_objects(Server *s, char **command) {
  start_session(s, command);
  call(s, 3, "map/create", "{\"id\":\"m1\"}");
  call(s, 4, "view/create", "{\"map\":\"m1\",\"id\":\"v1\"}");
  call(s, 5, "source/openInline",
       "{\"id\":\"s1\",\"data\":{\"type\":\"FeatureCollection\",\"features\":"
       "[{\"type\":\"Feature\",\"properties\":{\"a\":1},\"geometry\":null}]}}");
}

static void make_objects(Server *s, uint32_t id, int kind, uint32_t count) {
  Buffer b = {0};
  begin_request(&b, id, "model/apply");
  append_literal(&b, "{\"commands\":[");
  for (uint32_t i = 0; i < count; i++)
    b.length += (size_t)sprintf(reserve(&b, 256), "%s{\"method\":\"%s\",\"params\":{\"id\":\"%s%u\"%s}}", i ? "," : "",
                                object_kinds[kind].method, object_kinds[kind].name, i, object_kinds[kind].members);
  append_literal(&b, "]}}");
  frame_from(&b, 0);
  transmit(s, b.data, b.length);
  free(b.data);
  expect(next_answer(s), id);
}

static double seconds_of(Server *s, uint32_t id, const char *method) {
  double start = now();
  call(s, id, method, "{}");
  return now() - start;
}

// Undoes and redoes the creation of 50,000 objects of each kind: microseconds an object, the least of three, of the slower of both.
static void undo_objects(char **command) {
  for (int kind = 0; kind < OBJECT_KINDS; kind++) {
    Server s = {0};
    double undo = 1e9, redo = 1e9;
    prepare_objects(&s, command);
    make_objects(&s, 6, kind, A_STEP);
    for (uint32_t i = 0; i < 3; i++) {
      undo = fmin(undo, seconds_of(&s, 10 + 2 * i, "edit/undo"));
      redo = fmin(redo, seconds_of(&s, 11 + 2 * i, "edit/redo"));
    }
    printf("undo_%s_microseconds %.3f\n", object_kinds[kind].name, fmax(undo, redo) / A_STEP * 1e6);
    end_session(&s);
  }
}

// Sends `session/echo`, one in flight, until a request is answered, its snapshot is complete, and 300 ms more have passed, in which
// freed memory goes back. The longest answer time is the longest time that the loop was held.
static double held_by(Server *s, uint32_t request, const char *method, const char *params, uint32_t *echo) {
  send_request(s, request, method, params);
  char answer[32];
  int answer_length = sprintf(answer, "\"id\":%u,", request);
  int is_answered = 0, is_complete = 0, waits = 0;
  double longest = 0, asked = 0, end = 0;
  while (!is_answered || !is_complete || waits || now() < end) {
    if (!waits) {
      asked = now();
      send_request(s, ++*echo, "session/echo", "{}");
      waits = 1;
    }
    Frame frame;
    while (!take(s, &frame)) receive(s);
    size_t head = frame.length < 80 ? frame.length : 80;
    if (memmem(frame.data, head, "\"state/resynced\"", 16)) {
      is_complete = memmem(frame.data, frame.length, "\"snapshot\":", 11) != NULL;
    } else if (memmem(frame.data, head, "\"state/snapshotPart\"", 20)) {
      is_complete = memmem(frame.data + frame.length - 40, 40, "\"isLast\":true", 13) != NULL;
    } else if (!memmem(frame.data, head, "\"method\"", 8)) {
      if (memmem(frame.data, head, answer, (size_t)answer_length)) {
        expect(frame, request);
        is_answered = 1;
      } else {
        expect(frame, *echo);
        longest = fmax(longest, now() - asked);
        waits = 0;
      }
    }
    if (!is_answered || !is_complete) end = now() + 0.3;
  }
  return longest;
}

// A document of 100,000 objects of all kinds, observed: reverted, left for a new one, and opened.
static void open_stretch(char **command, const char *path) {
  Server s = {0};
  uint32_t echo = 1000;
  char file[512];
  snprintf(file, sizeof file, "{\"path\":\"%s\"}", path);
  prepare_objects(&s, command);
  for (int kind = 0; kind < OBJECT_KINDS; kind++) make_objects(&s, 6 + (uint32_t)kind, kind, A_DOCUMENT / OBJECT_KINDS);
  call(&s, 20, "document/saveAs", file);
  call(&s, 21, "state/observe", "{\"paths\":[\"/*/*\"]}");
  // The first snapshot has ended when an answer arrives that follows a delta behind it.
  call(&s, 22, "overlay/update", "{\"overlay\":\"overlay0\",\"name\":\"first\"}");
  double revert = held_by(&s, 23, "document/revert", "{}", &echo);
  double new = held_by(&s, 24, "document/new", "{}", &echo);
  double open = held_by(&s, 25, "document/open", file, &echo);
  printf("revert_milliseconds %.3f\nnew_milliseconds %.3f\nopen_milliseconds %.3f\n", revert * 1e3, new * 1e3, open * 1e3);
  printf("held_milliseconds %.3f\n", fmax(revert, fmax(new, open)) * 1e3);
  end_session(&s);
}

#endif
