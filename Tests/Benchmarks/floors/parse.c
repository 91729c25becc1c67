// The floor for columns: time of jansson alone to parse the messages that the driver sends.
//
// Run: parse objects|columns [POINTS]. Prints parse_seconds (json_loadb) and release_seconds (json_decref).
// Run: parse document FILE. The floor for documents: jansson's own dump and parse of one text; prints document_seconds.

#include <jansson.h>
#include <time.h>

#include "data.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int measure_document(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return 1;
  Buffer text = {0};
  size_t length = (size_t)ftell(file);
  rewind(file);
  if (fread(reserve(&text, length), 1, length, file) != length) return 1;
  double start = now();
  json_t *document = json_loadb(text.data, length, JSON_REJECT_DUPLICATES, NULL);
  double parsed = now();
  if (!document) return 1;
  char *dumped = json_dumps(document, JSON_COMPACT);
  double done = now();
  if (!dumped) return 1;
  printf("parse_seconds %.4f\ndump_seconds %.4f\ndocument_seconds %.4f\nmegabytes %.1f\n", parsed - start,
         done - parsed, done - start, (double)length / 1e6);
  return 0;
}

int main(int count, char **arguments) {
  if (count > 2 && !strcmp(arguments[1], "document")) return measure_document(arguments[2]);
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
