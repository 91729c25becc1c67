// The floor for columns: what jansson alone takes to parse the messages that the driver sends, doing nothing else.
//
// Run: parse objects|columns [POINTS]. Prints parse_seconds (json_loadb) and release_seconds (json_decref).

#include <jansson.h>
#include <time.h>

#include "data.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
  int columns = count > 1 && !strcmp(arguments[1], "columns");
  Points points = make_points(count > 2 ? (uint32_t)atoi(arguments[2]) : 1000000);
  Buffer message = {0};
  double parsing = 0, releasing = 0;
  size_t bytes = 0;
  uint32_t step = columns ? ROWS_A_MESSAGE : OBJECTS_A_MESSAGE;
  for (uint32_t row = 0; row < points.count; row += step) {
    message.length = 0;
    if (columns) append_columns(&message, row / step + 1, &points, row);
    else append_objects(&message, row / step + 1, &points, row);
    bytes += message.length;
    double start = now();
    json_t *document = json_loadb(message.data, message.length, JSON_REJECT_DUPLICATES, NULL);
    double parsed = now();
    if (!document) return 1;
    json_decref(document);
    parsing += parsed - start;
    releasing += now() - parsed;
  }
  printf("parse_seconds %.4f\nrelease_seconds %.4f\nmegabytes %.1f\n", parsing, releasing, (double)bytes / 1e6);
  return 0;
}
