// The floor for everything over stdio: a JSON-RPC server in C over jansson that does what the driver asks, and no more.
//
// Content-Length framing; the answers to the requests of one read go out in one write. Points only, three attributes, ids
// minted; `bench/index` marks the end of loading. overlay/addColumns is missing; a move rebuilds the index, so it is not
// used as a floor.

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <unistd.h>

#include "store.h"

enum { READ_BYTES = 256 * 1024 };

static Store store;
static Buffer out;
static int64_t revision;
static int six_decimals;

// MARK: - Writing

// Six decimals, whatever the value: a decimetre in degrees.
static void append_six(double value) {
  int64_t scaled = (int64_t)((value < 0 ? -value : value) * 1e6 + 0.5), fraction = scaled % 1000000;
  char digits[7] = ".";
  if (value < 0) append_literal(&out, "-");
  append_integer(&out, scaled / 1000000);
  for (int i = 6; i > 0; i--, fraction /= 10) digits[i] = (char)('0' + fraction % 10);
  append(&out, digits, 7);
}

// The shortest text that reads back to the same value. A number of at most seven decimals, as positions mostly are,
// goes by integers (up to 15 digits texts and doubles correspond one to one); any other is tried with 15, 16, 17 digits.
static void append_number(double value) {
  if (six_decimals) {
    append_six(value);
    return;
  }
  double magnitude = value < 0 ? -value : value;
  int64_t scaled = magnitude < 1e8 ? (int64_t)(magnitude * 1e7 + 0.5) : 0;
  if ((double)scaled / 1e7 == magnitude) {
    int64_t fraction = scaled % 10000000;
    if (value < 0) append_literal(&out, "-");
    append_integer(&out, scaled / 10000000);
    if (!fraction) return;
    char digits[8] = ".";
    int length = 8;
    for (int i = 7; i > 0; i--, fraction /= 10) digits[i] = (char)('0' + fraction % 10);
    while (digits[length - 1] == '0') length--;
    append(&out, digits, (size_t)length);
    return;
  }
  char *text = reserve(&out, 32);
  int n = 0;
  for (int digits = 15; digits <= 17; digits++) {
    n = snprintf(text, 32, "%.*g", digits, value);
    if (digits == 17 || strtod(text, NULL) == value) break;
  }
  out.length += (size_t)n;
}

static void append_string(const char *text, size_t n) {
  char *p = reserve(&out, n * 6 + 2), *start = p;
  *p++ = '"';
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c != '"' && c != '\\') *p++ = (char)c;
    else if (c == '"' || c == '\\') { *p++ = '\\'; *p++ = (char)c; }
    else p += sprintf(p, "\\u%04x", c);
  }
  *p++ = '"';
  out.length += (size_t)(p - start);
}

static void append_json(const json_t *value) {
  size_t room = out.capacity - out.length, flags = JSON_COMPACT | JSON_ENCODE_ANY;
  size_t n = json_dumpb(value, out.data + out.length, room, flags);
  if (n > room) n = json_dumpb(value, reserve(&out, n), n, flags);
  out.length += n;
}

static void append_answer_to_command(void) {
  append_literal(&out, "{\"revision\":");
  append_integer(&out, ++revision);
}

// MARK: - Methods: each appends its result, or returns the error

static const char *initialize(json_t *params) {
  (void)params;
  append_literal(&out,
                 "{\"protocolVersion\":\"0.2\",\"serverInfo\":{\"name\":\"floor\",\"version\":\"0.2.0\"},"
                 "\"capabilities\":{\"domains\":[\"session\",\"map\",\"view\",\"overlay\",\"feature\"]}}");
  return NULL;
}

static const char *echo(json_t *params) {
  append_json(params);
  return NULL;
}

static const char *nothing(json_t *params) {
  (void)params;
  append_literal(&out, "{}");
  return NULL;
}

static const char *add_graphics(json_t *params) {
  json_t *graphics = json_object_get(params, "graphics"), *graphic;
  if (!json_is_array(graphics)) return "expected array at /params/graphics";
  uint32_t first = store.count, row = first;
  size_t index, names = store.names.length;
  grow_store(&store, first + (uint32_t)json_array_size(graphics));
  json_array_foreach(graphics, index, graphic) {
    json_t *geometry = json_object_get(graphic, "geometry"), *properties = json_object_get(graphic, "properties");
    const char *type = json_string_value(json_object_get(geometry, "type"));
    json_t *position = json_object_get(geometry, "coordinates"), *name = json_object_get(properties, "name");
    json_t *x = json_array_get(position, 0), *y = json_array_get(position, 1);
    json_t *kind = json_object_get(properties, "kind"), *rank = json_object_get(properties, "rank");
    int code = json_is_string(kind) ? kind_code(&store, json_string_value(kind), json_string_length(kind)) : -1;
    if (!type || strcmp(type, "Point") || !json_is_number(x) || !json_is_number(y) || !json_is_string(name) ||
        code < 0 || !json_is_integer(rank)) {
      store.names.length = names;
      return "a graphic is not as this server wants it";
    }
    append(&store.names, json_string_value(name), json_string_length(name));
    store.x[row] = json_number_value(x);
    store.y[row] = json_number_value(y);
    store.name_ends[row] = (uint32_t)store.names.length;
    store.kinds[row] = (uint8_t)code;
    store.ranks[row] = json_integer_value(rank);
    store.ids[row] = ++store.next_id;
    row++;
  }
  store.count = row;
  append_answer_to_command();
  append_literal(&out, ",\"firstId\":");
  append_integer(&out, store.next_id - (row - first) + 1);
  append_literal(&out, ",\"count\":");
  append_integer(&out, row - first);
  append_literal(&out, "}");
  return NULL;
}

static const char *build_index(json_t *params) {
  (void)params;
  index_store(&store);
  malloc_trim(0);
  append_answer_to_command();
  append_literal(&out, "}");
  return NULL;
}

static const char *write_six_decimals(json_t *params) {
  (void)params;
  six_decimals = !six_decimals;
  append_literal(&out, "{}");
  return NULL;
}

// Decodes a column of eight-byte numbers; NULL if it is not one.
static void *column(json_t *value, uint32_t *count) {
  static signed char places[256];
  if (!places['B']) {
    memset(places, -1, sizeof places);
    for (int i = 0; i < 64; i++)
      places[(unsigned char)"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[i]] = (signed char)i;
  }
  json_t *data = json_object_get(value, "data");
  size_t n = json_string_length(data);
  if (!json_is_string(data) || n % 4) return NULL;
  const unsigned char *p = (const unsigned char *)json_string_value(data);
  unsigned char *bytes = checked(malloc(n / 4 * 3 + 8)), *q = bytes;
  for (size_t i = 0; i < n; i += 4) {
    uint32_t v = 0;
    for (int k = 0; k < 4; k++) v = v << 6 | (uint32_t)(places[p[i + k]] & 63);
    *q++ = (unsigned char)(v >> 16);
    *q++ = (unsigned char)(v >> 8);
    *q++ = (unsigned char)v;
  }
  *count = (uint32_t)((q - bytes) / 8);
  return bytes;
}

static const char *update_columns(json_t *params) {
  uint32_t count = 0, nx = 0, ny = 0, changed = 0;
  int64_t *ids = column(json_object_get(params, "ids"), &count);
  double *x = column(json_object_get(params, "x"), &nx), *y = column(json_object_get(params, "y"), &ny);
  const char *wrong = ids && x && y && nx == count && ny == count ? NULL : "columns are not as this server wants them";
  for (uint32_t i = 0; i < count && !wrong; i++)
    if (row_of(&store, ids[i]) < 0) wrong = "no such graphic";
  for (uint32_t i = 0; i < count && !wrong; i++) {
    int64_t row = row_of(&store, ids[i]);
    changed += store.x[row] != x[i] || store.y[row] != y[i];
    store.x[row] = x[i];
    store.y[row] = y[i];
  }
  free(ids);
  free(x);
  free(y);
  if (wrong) return wrong;
  index_store(&store);
  append_answer_to_command();
  append_literal(&out, ",\"count\":");
  append_integer(&out, changed);
  append_literal(&out, "}");
  return NULL;
}

// Searches the box of `params`; the rows are in store.found.
static const char *search(json_t *params, int64_t limit, uint32_t *count, int *exceeded) {
  json_t *box = json_object_get(params, "envelope"), *wanted = json_object_get(params, "limit");
  json_t *x0 = json_object_get(box, "xMin"), *y0 = json_object_get(box, "yMin");
  json_t *x1 = json_object_get(box, "xMax"), *y1 = json_object_get(box, "yMax");
  if (!json_is_number(x0) || !json_is_number(y0) || !json_is_number(x1) || !json_is_number(y1))
    return "expected an envelope at /params/envelope";
  if (json_is_integer(wanted)) limit = json_integer_value(wanted);
  *count = search_store(
      &store, (Bounds){json_number_value(x0), json_number_value(y0), json_number_value(x1), json_number_value(y1)});
  *exceeded = *count > limit;
  if (*exceeded) *count = (uint32_t)limit;
  return NULL;
}

static const char *query_ids(json_t *params) {
  uint32_t count;
  int exceeded;
  const char *wrong = search(params, 100000, &count, &exceeded);
  if (wrong) return wrong;
  append_literal(&out, "{\"ids\":[");
  for (uint32_t i = 0; i < count; i++) {
    if (i) append_literal(&out, ",");
    append_integer(&out, store.ids[store.found[i]]);
  }
  append_literal(&out, "],\"exceededLimit\":");
  append(&out, exceeded ? "true" : "false", exceeded ? 4 : 5);
  append_literal(&out, ",\"revision\":");
  append_integer(&out, revision);
  append_literal(&out, "}");
  return NULL;
}

// The nearest in the plane, of one place.
static const char *nearest(json_t *params) {
  enum { MOST = 1000 };
  static Near near[MOST];
  json_t *position = json_object_get(json_object_get(params, "locations"), "coordinates");
  json_t *x = json_array_get(position, 0), *y = json_array_get(position, 1), *limit = json_object_get(params, "limit");
  if (!json_is_number(x) || !json_is_number(y) || !json_is_true(json_object_get(params, "planar")))
    return "expected a point at /params/locations, and planar";
  int64_t k = json_is_integer(limit) ? json_integer_value(limit) : 1;
  if (k < 1 || k > MOST) return "expected 1 to 1000 at /params/limit";
  uint32_t count = store.tree.levels ? nearest_in_tree(
      &store.tree, store.tree.levels - 1, 0, json_number_value(x), json_number_value(y), (uint32_t)k, near, 0) : 0;
  append_literal(&out, "{\"revision\":");
  append_integer(&out, revision);
  append_literal(&out, ",\"counts\":[");
  append_integer(&out, count);
  append_literal(&out, "],\"ids\":[");
  for (uint32_t i = 0; i < count; i++) {
    if (i) append_literal(&out, ",");
    append_integer(&out, store.ids[near[i].row]);
  }
  append_literal(&out, "],\"distances\":[");
  for (uint32_t i = 0; i < count; i++) {
    if (i) append_literal(&out, ",");
    out.length += (size_t)snprintf(reserve(&out, 32), 32, "%.17g", sqrt(near[i].square));
  }
  append_literal(&out, "],\"exceededLimit\":false}");
  return NULL;
}

static void append_feature(uint32_t row) {
  uint32_t start = row ? store.name_ends[row - 1] : 0;
  append_literal(&out, "{\"type\":\"Feature\",\"id\":");
  append_integer(&out, store.ids[row]);
  append_literal(&out, ",\"geometry\":{\"type\":\"Point\",\"coordinates\":[");
  append_number(store.x[row]);
  append_literal(&out, ",");
  append_number(store.y[row]);
  append_literal(&out, "]},\"properties\":{\"name\":");
  append_string(store.names.data + start, store.name_ends[row] - start);
  append_literal(&out, ",\"kind\":");
  append_string(store.kind_texts[store.kinds[row]].text, store.kind_texts[store.kinds[row]].length);
  append_literal(&out, ",\"rank\":");
  append_integer(&out, store.ranks[row]);
  append_literal(&out, "}}");
}

static const char *query(json_t *params) {
  uint32_t count;
  int exceeded;
  const char *wrong = search(params, 1000, &count, &exceeded);
  if (wrong) return wrong;
  append_literal(&out, "{\"type\":\"FeatureCollection\",\"revision\":");
  append_integer(&out, revision);
  append_literal(&out, ",\"spatialReference\":\"EPSG:4326\",\"exceededLimit\":");
  append(&out, exceeded ? "true" : "false", exceeded ? 4 : 5);
  append_literal(&out, ",\"features\":[");
  for (uint32_t i = 0; i < count; i++) {
    if (i) append_literal(&out, ",");
    append_feature(store.found[i]);
  }
  append_literal(&out, "]}");
  return NULL;
}

// MARK: - Messages

static const struct {
  const char *name;
  const char *(*run)(json_t *params);
} methods[] = {
    {"session/echo", echo},      {"feature/queryIds", query_ids}, {"feature/query", query},
    {"initialize", initialize},  {"shutdown", nothing},           {"overlay/addGraphics", add_graphics},
    {"map/create", nothing},     {"view/create", nothing},        {"overlay/create", nothing},
    {"bench/sixDecimals", write_six_decimals}, {"feature/nearest", nearest},
    {"bench/index", build_index}, {"session/status", nothing},    {"overlay/updateColumns", update_columns},
};

static void append_id(const json_t *id) {
  append_literal(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
  if (json_is_integer(id)) append_integer(&out, json_integer_value(id));
  else if (json_is_string(id)) append_json(id);
  else append_literal(&out, "null");
}

static void append_error(const json_t *id, int code, const char *message) {
  append_id(id);
  append_literal(&out, ",\"error\":{\"code\":");
  append_integer(&out, code);
  append_literal(&out, ",\"message\":");
  append_string(message, strlen(message));
  append_literal(&out, "}}");
}

static void handle(const char *body, size_t length) {
  size_t start = out.length;
  json_error_t problem;
  json_t *message = json_loadb(body, length, JSON_REJECT_DUPLICATES, &problem);
  json_t *id = json_object_get(message, "id");
  const char *method = json_string_value(json_object_get(message, "method"));
  if (!message) {
    append_error(NULL, -32700, problem.text);
  } else if (!method) {
    append_error(id, -32600, "no method");
  } else if (!id) {
    if (!strcmp(method, "exit")) _exit(0);
    json_decref(message);
    return;
  } else {
    size_t i = 0, n = sizeof methods / sizeof *methods;
    while (i < n && strcmp(methods[i].name, method)) i++;
    if (i == n) {
      append_error(id, -32601, "unknown method");
    } else {
      append_id(id);
      append_literal(&out, ",\"result\":");
      const char *wrong = methods[i].run(json_object_get(message, "params"));
      append_literal(&out, "}");
      if (wrong) {
        out.length = start;
        append_error(id, -32602, wrong);
      }
    }
  }
  frame_from(&out, start);
  json_decref(message);
}

// The body's length, and where it starts in `at`; -1 while the header is not complete.
static int64_t header(const char *bytes, size_t n, size_t *at) {
  const char *end = memmem(bytes, n, "\r\n\r\n", 4);
  if (!end) return -1;
  *at = (size_t)(end - bytes) + 4;
  if (strncasecmp(bytes, "Content-Length:", 15)) exit(2);
  return strtoll(bytes + 15, NULL, 10);
}

static void flush(void) {
  for (size_t done = 0; done < out.length;) {
    ssize_t n = write(1, out.data + done, out.length - done);
    if (n < 0 && errno != EINTR) exit(1);
    if (n > 0) done += (size_t)n;
  }
  out.length = 0;
}

int main(void) {
  Buffer in = {0};
  size_t at = 0, needed = 0;
  reserve(&out, 4096);
  for (;;) {
    if (at == in.length) at = in.length = 0;
    if (at && in.capacity - in.length < READ_BYTES) {
      memmove(in.data, in.data + at, in.length - at);
      in.length -= at;
      at = 0;
    }
    ssize_t n = read(0, reserve(&in, READ_BYTES), READ_BYTES);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    in.length += (size_t)n;
    while (in.length - at >= needed) {
      size_t body;
      int64_t length = header(in.data + at, in.length - at, &body);
      if (length < 0) {
        needed = 0;
        break;
      }
      needed = body + (size_t)length;
      if (in.length - at < needed) break;
      handle(in.data + at + body, (size_t)length);
      at += needed;
      needed = 0;
      if (at == in.length) break;
    }
    if (out.length) flush();
  }
}
