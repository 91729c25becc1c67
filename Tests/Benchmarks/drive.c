// The driver: one client for both servers, so its own cost is the same on both sides. It checks every answer that it times.
//
// Run: drive [--points N] [--requests N] [--spawns N] [--in-flight N] [--finish METHOD] [--file PATH] MODE -- COMMAND...
// Modes: throughput, latency, start, load-objects, load-columns, query, filters, observe, long-delta, undo, open-stretch. Prints
// `key value` lines.

#include <jansson.h>
#include <math.h>
#include <signal.h>

#include "cancel.h"
#include "filters.h"
#include "nearest.h"
#include "objects.h"
#include "observe.h"
#include "wire.h"

enum { BOXES = 1000, LIMIT_SECONDS = 600 };

static uint32_t point_count = 1000000, requests, spawns = 50, in_flight;
static const char *finish_method, *file_path = "document.json";

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static double quantile(double *values, size_t n, double q) {
  qsort(values, n, sizeof *values, ascending);
  size_t place = (size_t)(q * (double)n);
  return values[place < n ? place : n - 1];
}

// MARK: - Echo and start

static const char echoed[] =  // 100 bytes
    "{\"value\":\"the quick brown fox jumps over the lazy dog, and the dog does not mind: it's asleep now.\"}";

// Requests of session/echo, one after the other; request i starts at starts[i] and has the id i + 10.
static Buffer echo_requests(uint32_t count, size_t *starts) {
  Buffer all = {0};
  for (uint32_t i = 0; i < count; i++) {
    size_t start = starts[i] = all.length;
    begin_request(&all, i + 10, "session/echo");
    append(&all, echoed, sizeof echoed - 1);
    append_literal(&all, "}");
    frame_from(&all, start);
  }
  starts[count] = all.length;
  return all;
}

static void expect_echo(Frame frame, uint32_t id) {
  expect(frame, id);
  if (!memmem(frame.data, frame.length, echoed, sizeof echoed - 1))
    fail("not an echo: %.*s", (int)frame.length, frame.data);
}

static void throughput(char **command) {
  Server s = {0};
  uint32_t count = requests ? requests : 200000, window = in_flight ? in_flight : 64, answered = 0;
  size_t *starts = checked(malloc((count + 1) * sizeof *starts));
  Buffer all = echo_requests(count, starts);
  if (window > count) window = count;
  start_session(&s, command);
  double start = now();
  uint32_t sent = window;
  transmit(&s, all.data, starts[sent]);
  while (answered < count) {
    Frame frame;
    while (take_answer(&s, &frame)) expect_echo(frame, 10 + answered++);
    uint32_t until = answered + window < count ? answered + window : count;
    transmit(&s, all.data + starts[sent], starts[until] - starts[sent]);
    sent = until;
    if (answered < count) receive(&s);
  }
  printf("requests_per_second %.0f\n", count / (now() - start));
  end_session(&s);
}

static void latency(char **command) {
  Server s = {0};
  uint32_t count = requests ? requests : 50000;
  size_t *starts = checked(malloc((count + 1) * sizeof *starts));
  double *times = checked(malloc(count * sizeof *times));
  Buffer all = echo_requests(count, starts);
  start_session(&s, command);
  for (uint32_t i = 0; i < count; i++) {
    double start = now();
    transmit(&s, all.data + starts[i], starts[i + 1] - starts[i]);
    Frame frame = next_answer(&s);
    times[i] = now() - start;
    expect_echo(frame, i + 10);
  }
  printf("median_microseconds %.2f\n", quantile(times, count, 0.5) * 1e6);
  printf("p99_microseconds %.2f\n", quantile(times, count, 0.99) * 1e6);
  end_session(&s);
}

static void start(char **command) {
  Server s = {0};
  double *times = checked(malloc(spawns * sizeof(double))), *resident = checked(malloc(spawns * sizeof(double)));
  double *peaks = checked(malloc(spawns * sizeof(double)));
  for (uint32_t i = 0; i < spawns; i++) {
    double started = now();
    spawn_server(&s, command);
    call(&s, 1, "initialize", initialize_params);
    times[i] = now() - started;
    resident[i] = (double)memory_of(&s, "VmRSS:") * 1024 / 1e6;
    peaks[i] = (double)memory_of(&s, "VmHWM:") * 1024 / 1e6;
    notify(&s, "initialized");
    end_session(&s);
  }
  printf("start_milliseconds %.3f\n", quantile(times, spawns, 0.5) * 1e3);
  printf("start_resident_megabytes %.2f\n", quantile(resident, spawns, 0.5));
  printf("start_peak_megabytes %.2f\n", quantile(peaks, spawns, 0.5));
}

// MARK: - Loading

typedef struct {
  uint32_t rows_a_message, messages;
  int64_t *first_ids;
} Loaded;

static int64_t id_of(const Loaded *l, uint32_t row) {
  return l->first_ids[row / l->rows_a_message] + row % l->rows_a_message;
}

// The row of an id; -1 if it was not minted for this client. first_ids ascend.
static int64_t row_of(const Loaded *l, int64_t id, uint32_t points) {
  uint32_t low = 0, high = l->messages;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (l->first_ids[middle] <= id) low = middle;
    else high = middle;
  }
  int64_t offset = id - l->first_ids[low], row = (int64_t)low * l->rows_a_message + offset;
  return offset < 0 || offset >= l->rows_a_message || row >= points ? -1 : row;
}

static json_t *parsed(Frame frame) {
  json_t *document = json_loadb(frame.data, frame.length, 0, NULL), *result = json_object_get(document, "result");
  if (!json_is_object(result)) fail("no result: %.*s", (int)(frame.length < 500 ? frame.length : 500), frame.data);
  json_incref(result);
  json_decref(document);
  return result;
}

static void expect_loaded(Frame frame, Loaded *l, uint32_t message, uint32_t points) {
  expect(frame, message + 10);
  json_t *result = parsed(frame);
  json_t *first = json_object_get(result, "firstId"), *count = json_object_get(result, "count");
  uint32_t row = message * l->rows_a_message;
  uint32_t wanted = points - row < l->rows_a_message ? points - row : l->rows_a_message;
  if (!json_is_integer(first) || json_integer_value(count) != wanted)
    fail("not %u added: %.*s", wanted, (int)frame.length, frame.data);
  l->first_ids[message] = json_integer_value(first);
  if (message && l->first_ids[message] < l->first_ids[message - 1] + l->rows_a_message)
    fail("minted ids do not ascend");
  json_decref(result);
}

// Sends all points, `in_flight` messages at a time; the clock stops at the last answer, or that of --finish.
static Loaded load(Server *s, const Points *p, int columns, char **command) {
  uint32_t window = in_flight ? in_flight : 4, answered = 0, sent = 0;
  Loaded l = {.rows_a_message = columns ? ROWS_A_MESSAGE : OBJECTS_A_MESSAGE};
  l.messages = (p->count + l.rows_a_message - 1) / l.rows_a_message;
  l.first_ids = checked(calloc(l.messages, sizeof *l.first_ids));
  Buffer *messages = checked(calloc(l.messages, sizeof *messages));
  for (uint32_t i = 0; i < l.messages; i++) {
    (columns ? append_columns : append_objects)(&messages[i], i + 10, p, i * l.rows_a_message);
    frame_from(&messages[i], 0);
  }
  start_session(s, command);
  call(s, 3, "map/create", "{\"id\":\"m1\",\"spatialReference\":\"EPSG:4326\"}");
  call(s, 4, "view/create", "{\"map\":\"m1\",\"id\":\"v1\"}");
  call(s, 5, "overlay/create", "{\"view\":\"v1\",\"id\":\"o1\"}");
  call(s, 6, "session/status", "{}");
  long before = memory_of(s, "VmRSS:");
  double start = now();
  while (answered < l.messages) {
    for (; sent < l.messages && sent < answered + window; sent++)
      transmit(s, messages[sent].data, messages[sent].length);
    Frame frame = next_answer(s);
    expect_loaded(frame, &l, answered++, p->count);
  }
  if (finish_method) call(s, 7, finish_method, "{}");
  double seconds = now() - start;
  call(s, 8, "session/status", "{}");
  long after = memory_of(s, "VmRSS:");
  printf("load_seconds %.4f\n", seconds);
  printf("load_bytes_a_graphic %.2f\n", (double)(after - before) * 1024 / p->count);
  printf("load_peak_megabytes %.1f\n", (double)memory_of(s, "VmHWM:") * 1024 / 1e6);
  for (uint32_t i = 0; i < l.messages; i++) free(messages[i].data);
  free(messages);
  return l;
}

// MARK: - Boxes

typedef struct { double x; uint32_t row; } Place;

// About 100 hits per box, for any number of points.
static void make_boxes(Box boxes[BOXES], uint32_t points) {
  double share = sqrt(100.0 / points), width = 360 * share, height = 180 * share;
  uint64_t state = 7;
  for (int i = 0; i < BOXES; i++) {
    double x = unit(&state) * (360 - width) - 180, y = unit(&state) * (180 - height) - 90;
    boxes[i] = (Box){x, y, x + width, y + height};
  }
}

// The rows expected of each box, computed by this program: counts, and sums of the rows mixed.
static void expected_hits(const Points *p, const Box boxes[BOXES], uint32_t counts[BOXES], uint64_t sums[BOXES]) {
  Place *places = checked(malloc(p->count * sizeof *places));
  for (uint32_t i = 0; i < p->count; i++) places[i] = (Place){p->x[i], i};
  qsort(places, p->count, sizeof *places, ascending);
  for (int i = 0; i < BOXES; i++) {
    uint32_t low = 0, high = p->count;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (places[middle].x < boxes[i].x0) low = middle + 1;
      else high = middle;
    }
    counts[i] = 0;
    sums[i] = 0;
    for (; low < p->count && places[low].x <= boxes[i].x1; low++) {
      double y = p->y[places[low].row];
      if (y < boxes[i].y0 || y > boxes[i].y1) continue;
      counts[i]++;
      sums[i] += mixed(places[low].row + 1);
    }
  }
  free(places);
}

static double tolerance;  // of positions

static void expect_feature(json_t *feature, const Points *p, uint32_t row) {
  char name[NAME_LENGTH];
  json_t *position = json_object_get(json_object_get(feature, "geometry"), "coordinates");
  json_t *properties = json_object_get(feature, "properties");
  json_t *text = json_object_get(properties, "name"), *kind = json_object_get(properties, "kind");
  name_of(row, name);
  if (fabs(json_number_value(json_array_get(position, 0)) - p->x[row]) > tolerance ||
      fabs(json_number_value(json_array_get(position, 1)) - p->y[row]) > tolerance || json_string_length(text) != NAME_LENGTH ||
      memcmp(json_string_value(text), name, NAME_LENGTH) || json_string_length(kind) != 8 ||
      memcmp(json_string_value(kind), kind_of(row), 8) ||
      json_integer_value(json_object_get(properties, "rank")) != rank_of(row))
    fail("feature of row %u: %s", row, json_dumps(feature, JSON_COMPACT));
}

// Checks one answer: the rows, their order, and all of each feature. Returns the number of hits.
static size_t expect_hits(
    Frame frame, uint32_t id, int features, const Loaded *l, const Points *p, uint32_t count, uint64_t sum) {
  expect(frame, id);
  json_t *result = parsed(frame), *hits = json_object_get(result, features ? "features" : "ids"), *hit;
  if (json_array_size(hits) != count) fail("%zu hits instead of %u in %.80s", json_array_size(hits), count, frame.data);
  if (!json_is_false(json_object_get(result, "exceededLimit"))) fail("exceededLimit is not false");
  size_t index;
  int64_t last = -1;
  json_array_foreach(hits, index, hit) {
    int64_t row = row_of(l, json_integer_value(features ? json_object_get(hit, "id") : hit), p->count);
    if (row <= last) fail("an unknown id, or not the drawing order, in %.80s", frame.data);
    last = row;
    sum -= mixed((uint64_t)row + 1);
    if (features) expect_feature(hit, p, (uint32_t)row);
  }
  if (sum) fail("other ids than expected in %.80s", frame.data);
  json_decref(result);
  return count;
}

// Queries all boxes, one in flight. Keeps the answers and checks them when the clock has stopped.
static void ask(Server *s, const char *label, int features, const Box boxes[BOXES], const Loaded *l, const Points *p) {
  static Buffer messages[BOXES];
  static size_t starts[BOXES];
  static Frame frames[BOXES];
  static uint32_t counts[BOXES];
  static uint64_t sums[BOXES];
  static double times[BOXES];
  expected_hits(p, boxes, counts, sums);
  for (uint32_t i = 0; i < BOXES; i++) {
    Buffer *b = &messages[i];
    b->length = 0;
    begin_request(b, i + 10, features ? "feature/query" : "feature/queryIds");
    b->length += (size_t)sprintf(
        reserve(b, 256),
        "{\"overlay\":\"o1\",\"envelope\":{\"xMin\":%.17g,\"yMin\":%.17g,\"xMax\":%.17g,\"yMax\":%.17g}}}",
        boxes[i].x0, boxes[i].y0, boxes[i].x1, boxes[i].y1);
    frame_from(b, 0);
  }
  s->at = s->in.length = 0;
  memset(reserve(&s->in, 64 << 20), 0, 64 << 20);  // no page faults of the driver while the clock runs
  s->keeps = 1;
  double total = 0;
  for (uint32_t i = 0; i < BOXES; i++) {
    double start = now();
    transmit(s, messages[i].data, messages[i].length);
    Frame frame = next_answer(s);
    times[i] = now() - start;
    total += times[i];
    starts[i] = (size_t)(frame.data - s->in.data);
    frames[i].length = frame.length;
  }
  size_t hits = 0, bytes = 0;
  uint64_t checksum = 0;
  for (uint32_t i = 0; i < BOXES; i++) {
    frames[i].data = s->in.data + starts[i];
    bytes += frames[i].length;
    checksum = mixed(checksum + sums[i]);
    hits += expect_hits(frames[i], i + 10, features, l, p, counts[i], sums[i]);
  }
  s->keeps = 0;
  printf("%s_first_microseconds %.2f\n", label, times[0] * 1e6);
  printf("%s_microseconds %.2f\n", label, quantile(times, BOXES, 0.5) * 1e6);
  printf("%s_mean_microseconds %.2f\n", label, total / BOXES * 1e6);
  printf("%s_hits %zu\n%s_bytes %zu\n", label, hits, label, bytes);
  printf("%s_checksum %016llx\n", label, (unsigned long long)checksum);
}

// Moves about every hundredth point to a random position, in one message.
static void move(Server *s, const Loaded *l, Points *p) {
  int64_t *ids = checked(malloc(p->count * sizeof *ids));
  double *x = checked(malloc(p->count * sizeof *x)), *y = checked(malloc(p->count * sizeof *y));
  uint32_t count = 0;
  uint64_t state = 3;
  for (uint32_t row = 0; row < p->count; row++) {
    if (unit(&state) >= 0.01) continue;
    ids[count] = id_of(l, row);
    x[count] = p->x[row] = position(&state, 360);
    y[count++] = p->y[row] = position(&state, 180);
  }
  Buffer params = {0};
  append_literal(&params, "{\"overlay\":\"o1\",\"ids\":");
  append_column(&params, "int64", ids, count);
  append_literal(&params, ",\"x\":");
  append_column(&params, "float64", x, count);
  append_literal(&params, ",\"y\":");
  append_column(&params, "float64", y, count);
  append(&params, "}", 2);
  double start = now();
  Frame frame = call(s, 9, "overlay/updateColumns", params.data);
  printf("move_seconds %.4f\n", now() - start);
  json_t *result = parsed(frame);
  if (json_integer_value(json_object_get(result, "count")) != count)
    fail("not %u moved: %.*s", count, (int)frame.length, frame.data);
  json_decref(result);
  free(ids);
  free(x);
  free(y);
  free(params.data);
}

static int64_t id_of_row(const void *loaded, uint32_t row) { return id_of(loaded, row); }

// Loads and queries, which checks that the server holds what was sent; queries again after a move if `moves`.
static void model(int columns, int moves, char **command) {
  Server s = {0};
  static Box boxes[BOXES];
  Points points = make_points(point_count);
  make_boxes(boxes, points.count);
  Loaded l = load(&s, &points, columns, command);
  ask(&s, "ids", 0, boxes, &l, &points);
  ask(&s, "features", 1, boxes, &l, &points);
  // The C server also writes with fewer digits.
  if (finish_method) {
    tolerance = 0.6e-6;
    call(&s, 9, "bench/sixDecimals", "{}");
    ask(&s, "six_decimals", 1, boxes, &l, &points);
    call(&s, 9, "bench/sixDecimals", "{}");
    tolerance = 0;
  }
  if (moves) ask_places(&s, !finish_method, &points, id_of_row, &l);
  if (moves) {
    move(&s, &l, &points);
    ask(&s, "moved_ids", 0, boxes, &l, &points);
    ask(&s, "moved_features", 1, boxes, &l, &points);
  }
  end_session(&s);
}

// Loads, and asks for attributes.
static void filters(char **command) {
  Server s = {0};
  static Box boxes[BOXES];
  Points points = make_points(point_count);
  make_boxes(boxes, points.count);
  Loaded l = load(&s, &points, 1, command);
  ask_count(&s, &points);
  ask_statistics(&s, &points);
  ask(&s, "ids", 0, boxes, &l, &points);
  ask_names(&s, &points, id_of_row, &l);
  cancel_all(&s, point_count);
  end_session(&s);
}

// MARK: - Command line

static void too_long(int signal_number) {
  (void)signal_number;
  static const char text[] = "drive: no end after ten minutes\n";
  if (write(2, text, sizeof text - 1) < 0) _exit(1);
  if (current && current->pid > 0) kill(current->pid, SIGKILL);
  _exit(1);
}

int main(int count, char **arguments) {
  int i = 1;
  for (; i + 1 < count && !strncmp(arguments[i], "--", 2); i += 2) {
    const char *name = arguments[i], *value = arguments[i + 1];
    if (!strcmp(name, "--points")) point_count = (uint32_t)atoi(value);
    else if (!strcmp(name, "--requests")) requests = (uint32_t)atoi(value);
    else if (!strcmp(name, "--spawns")) spawns = (uint32_t)atoi(value);
    else if (!strcmp(name, "--in-flight")) in_flight = (uint32_t)atoi(value);
    else if (!strcmp(name, "--finish")) finish_method = value;
    else if (!strcmp(name, "--file")) file_path = value;
    else fail("unknown option %s", name);
  }
  if (i + 2 >= count || strcmp(arguments[i + 1], "--")) fail("usage: drive [options] MODE -- COMMAND...");
  if (sizeof echoed - 1 != 100) fail("the echo is of %zu bytes", sizeof echoed - 1);
  const char *mode = arguments[i];
  char **command = arguments + i + 2;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGALRM, too_long);
  alarm(LIMIT_SECONDS);
  if (!strcmp(mode, "throughput")) throughput(command);
  else if (!strcmp(mode, "latency")) latency(command);
  else if (!strcmp(mode, "start")) start(command);
  else if (!strcmp(mode, "load-objects")) model(0, 0, command);
  else if (!strcmp(mode, "load-columns")) model(1, 0, command);
  else if (!strcmp(mode, "query")) model(0, 1, command);
  else if (!strcmp(mode, "filters")) filters(command);
  else if (!strcmp(mode, "observe")) observe(command, requests ? requests : 50000);
  else if (!strcmp(mode, "long-delta")) long_delta(command);
  else if (!strcmp(mode, "undo")) undo_objects(command);
  else if (!strcmp(mode, "open-stretch")) open_stretch(command, file_path);
  else fail("unknown mode %s", mode);
  return 0;
}
