// The million points and the messages that contain them, the same for the driver and the parser's floor.

#ifndef DATA_H
#define DATA_H

#include <math.h>

#include "buffer.h"

enum { NAME_LENGTH = 20, KINDS = 8, OBJECTS_A_MESSAGE = 1000, ROWS_A_MESSAGE = 10000 };

typedef struct {
  uint32_t count;
  double *x, *y;
} Points;

typedef struct { double x0, y0, x1, y1; } Box;

// splitmix64: Steele, Lea, Flood, OOPSLA 2014. A bijection, so distinct numbers stay distinct.
static inline uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline uint64_t next_random(uint64_t *state) { return mixed(*state += 0x9e3779b97f4a7c15u); }
static inline double unit(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

// Positions have seven decimals (about a centimetre), as is usual in files.
static inline double position(uint64_t *state, double span) { return rint((unit(state) - 0.5) * span * 1e7) / 1e7; }

static inline Points make_points(uint32_t count) {
  Points p = {count, checked(malloc(count * sizeof(double))), checked(malloc(count * sizeof(double)))};
  uint64_t state = 42;
  for (uint32_t i = 0; i < count; i++) {
    p.x[i] = position(&state, 360);
    p.y[i] = position(&state, 180);
  }
  return p;
}

static inline void name_of(uint32_t row, char name[NAME_LENGTH]) {
  memcpy(name, "name", 4);
  uint64_t z = mixed(row + 1);
  for (int i = NAME_LENGTH - 1; i >= 4; i--, z >>= 4) name[i] = "0123456789abcdef"[z & 15];
}

static inline const char *kind_of(uint32_t row) {
  static const char *kinds[KINDS] = {"building", "junction", "landmark", "monument",
                                     "hospital", "airfield", "woodland", "vineyard"};
  return kinds[mixed(row + 0x10000000u) % KINDS];
}

static inline int64_t rank_of(uint32_t row) { return (int64_t)(mixed(row + 0x20000000u) % 10000000); }

static inline void append_double(Buffer *b, double value, int digits) {
  b->length += (size_t)snprintf(reserve(b, 32), 32, "%.*g", digits, value);
}

static inline void append_base64(Buffer *b, const void *bytes, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = bytes;
  char *out = reserve(b, (n + 2) / 3 * 4), *start = out;
  for (size_t i = 0; i < n; i += 3, out += 4) {
    uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
    out[0] = digits[v >> 18];
    out[1] = digits[v >> 12 & 63];
    out[2] = i + 1 < n ? digits[v >> 6 & 63] : '=';
    out[3] = i + 2 < n ? digits[v & 63] : '=';
  }
  b->length += (size_t)(out - start);
}

static inline void append_column(Buffer *b, const char *type, const void *numbers, uint32_t count) {
  b->length += (size_t)sprintf(reserve(b, 64), "{\"type\":\"%s\",\"data\":\"", type);
  append_base64(b, numbers, (size_t)count * 8);
  append_literal(b, "\"}");
}

static inline void begin_request(Buffer *b, uint32_t id, const char *method) {
  b->length += (size_t)sprintf(
      reserve(b, 128), "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\",\"params\":", id, method);
}

static inline uint32_t last_row(const Points *p, uint32_t first, uint32_t rows) {
  return p->count - first < rows ? p->count : first + rows;
}

// One overlay/addGraphics of GeoJSON features, not framed.
static inline void append_objects(Buffer *b, uint32_t id, const Points *p, uint32_t first) {
  begin_request(b, id, "overlay/addGraphics");
  append_literal(b, "{\"overlay\":\"o1\",\"graphics\":[");
  for (uint32_t row = first; row < last_row(p, first, OBJECTS_A_MESSAGE); row++) {
    char name[NAME_LENGTH];
    name_of(row, name);
    if (row > first) append_literal(b, ",");
    append_literal(b, "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[");
    append_double(b, p->x[row], 10);  // three and seven digits: the shortest text that reads back
    append_literal(b, ",");
    append_double(b, p->y[row], 10);
    append_literal(b, "]},\"properties\":{\"name\":\"");
    append(b, name, NAME_LENGTH);
    append_literal(b, "\",\"kind\":\"");
    append(b, kind_of(row), 8);
    append_literal(b, "\",\"rank\":");
    append_integer(b, rank_of(row));
    append_literal(b, "}}");
  }
  append_literal(b, "]}}");
}

// One overlay/addColumns, not framed.
static inline void append_columns(Buffer *b, uint32_t id, const Points *p, uint32_t first) {
  uint32_t end = last_row(p, first, ROWS_A_MESSAGE);
  begin_request(b, id, "overlay/addColumns");
  append_literal(b, "{\"overlay\":\"o1\",\"x\":");
  append_column(b, "float64", p->x + first, end - first);
  append_literal(b, ",\"y\":");
  append_column(b, "float64", p->y + first, end - first);
  append_literal(b, ",\"attributes\":{\"name\":[");
  for (uint32_t row = first; row < end; row++) {
    char name[NAME_LENGTH];
    name_of(row, name);
    if (row > first) append_literal(b, ",");
    append_literal(b, "\"");
    append(b, name, NAME_LENGTH);
    append_literal(b, "\"");
  }
  append_literal(b, "],\"kind\":[");
  for (uint32_t row = first; row < end; row++) {
    if (row > first) append_literal(b, ",");
    append_literal(b, "\"");
    append(b, kind_of(row), 8);
    append_literal(b, "\"");
  }
  append_literal(b, "],\"rank\":");
  static int64_t ranks[ROWS_A_MESSAGE];
  for (uint32_t row = first; row < end; row++) ranks[row - first] = rank_of(row);
  append_column(b, "int64", ranks, end - first);
  append_literal(b, "}}}");
}

#endif
