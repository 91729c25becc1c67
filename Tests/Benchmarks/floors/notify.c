// The floor for notifications: time of jansson to build and dump the one that the driver's `observe` causes.
//
// Run: notify [COUNT]. Prints notification_microseconds and notification_bytes.

#include <jansson.h>
#include <time.h>

#include "buffer.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
  uint32_t rounds = count > 1 ? (uint32_t)atoi(arguments[1]) : 200000;
  Buffer out = {0};
  size_t bytes = 0;
  double start = now();
  for (uint32_t i = 0; i < rounds; i++) {
    char title[32];
    sprintf(title, "title %u", i % 10);
    json_t *change = json_object(), *params = json_object(), *message = json_object(), *origin = json_object();
    json_object_set_new(change, "op", json_string("replace"));
    json_object_set_new(change, "path", json_string("/maps/m1/title"));
    json_object_set_new(change, "value", json_string(title));
    json_object_set_new(origin, "type", json_string("client"));
    json_object_set_new(params, "subscription", json_string("sub1"));
    json_object_set_new(params, "base", json_integer(i + 3));
    json_object_set_new(params, "revision", json_integer(i + 4));
    json_t *origins = json_array(), *changes = json_array();
    json_array_append_new(origins, origin);
    json_array_append_new(changes, change);
    json_object_set_new(params, "origins", origins);
    json_object_set_new(params, "changes", changes);
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    json_object_set_new(message, "method", json_string("state/changed"));
    json_object_set_new(message, "params", params);
    size_t length = json_dumpb(message, reserve(&out, 512), 512, JSON_COMPACT);
    json_decref(message);
    bytes += length;
    out.length = length;
    frame_from(&out, 0);
    out.length = 0;
  }
  printf("notification_microseconds %.3f\n", (now() - start) / rounds * 1e6);
  printf("notification_bytes %.0f\n", (double)bytes / rounds);
  return 0;
}
