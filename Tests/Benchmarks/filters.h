// Questions about attributes: conditions counted, statistics by groups, equality.

#ifndef FILTERS_H
#define FILTERS_H

#include <jansson.h>

#include "wire.h"

enum { QUESTIONS = 31, NAMES = 1000 };

static double median(double *values, size_t n) {
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j && values[j - 1] > values[j]; j--) {
      double swapped = values[j];
      values[j] = values[j - 1];
      values[j - 1] = swapped;
    }
  return values[n / 2];
}

// Asks the same some times; returns the median of the seconds, and the last result.
static double asked(Server *s, const char *method, const char *params, json_t **result) {
  double times[QUESTIONS];
  for (uint32_t i = 0; i < QUESTIONS; i++) {
    double start = now();
    Frame frame = call(s, 10 + i, method, params);
    times[i] = now() - start;
    if (i + 1 < QUESTIONS) continue;
    json_t *document = json_loadb(frame.data, frame.length, 0, NULL);
    *result = json_incref(json_object_get(document, "result"));
    json_decref(document);
  }
  return median(times, QUESTIONS);
}

static void ask_count(Server *s, const Points *p) {
  char params[256];
  json_t *result;
  uint32_t hits = 0;
  for (uint32_t row = 0; row < p->count; row++) hits += kind_of(row) == kind_of(0) && rank_of(row) > 5000000;
  sprintf(params, "{\"overlay\":\"o1\",\"whereClause\":\"kind = '%.8s' AND rank > 5000000\"}", kind_of(0));
  double seconds = asked(s, "feature/queryCount", params, &result);
  if (json_integer_value(json_object_get(result, "count")) != hits) fail("not %u counted", hits);
  json_decref(result);
  printf("count_milliseconds %.4f\ncount_hits %u\n", seconds * 1e3, hits);
}

static void expect_statistics(json_t *record, const Points *p) {
  const char *kind = json_string_value(json_object_get(json_object_get(record, "group"), "kind"));
  json_t *found = json_object_get(record, "statistics");
  int64_t count = 0, sum = 0, least = INT64_MAX, greatest = INT64_MIN;
  double squares = 0;
  if (!kind) fail("a group without a kind");
  for (uint32_t row = 0; row < p->count; row++) {
    if (memcmp(kind_of(row), kind, 8)) continue;
    int64_t rank = rank_of(row);
    count++;
    sum += rank;
    if (rank < least) least = rank;
    if (rank > greatest) greatest = rank;
  }
  double mean = (double)sum / (double)count;
  for (uint32_t row = 0; row < p->count; row++)
    if (!memcmp(kind_of(row), kind, 8)) squares += ((double)rank_of(row) - mean) * ((double)rank_of(row) - mean);
  double deviation = sqrt(squares / (double)(count - 1));
  if (json_integer_value(json_object_get(found, "count")) != count ||
      json_integer_value(json_object_get(found, "sum_rank")) != sum ||
      json_integer_value(json_object_get(found, "min_rank")) != least ||
      json_integer_value(json_object_get(found, "max_rank")) != greatest ||
      fabs(json_number_value(json_object_get(found, "mean_rank")) / mean - 1) > 1e-12 ||
      fabs(json_number_value(json_object_get(found, "standardDeviation_rank")) / deviation - 1) > 1e-9)
    fail("statistics of %s: %s", kind, json_dumps(found, JSON_COMPACT));
}

static void ask_statistics(Server *s, const Points *p) {
  json_t *result, *record;
  size_t index;
  double seconds = asked(
      s, "feature/queryStatistics",
      "{\"overlay\":\"o1\",\"groupBy\":[\"kind\"],\"statistics\":[{\"type\":\"count\"},{\"type\":\"sum\",\"field\":\"rank\"},"
      "{\"type\":\"min\",\"field\":\"rank\"},{\"type\":\"max\",\"field\":\"rank\"},{\"type\":\"mean\",\"field\":\"rank\"},"
      "{\"type\":\"standardDeviation\",\"field\":\"rank\"}]}",
      &result);
  json_t *records = json_object_get(result, "records");
  if (json_array_size(records) != KINDS) fail("%zu groups", json_array_size(records));
  json_array_foreach(records, index, record) expect_statistics(record, p);
  json_decref(result);
  printf("statistics_milliseconds %.4f\n", seconds * 1e3);
}

// Features by name, one each; the first question builds what the others use.
static void ask_names(Server *s, const Points *p, int64_t (*id_of_row)(const void *, uint32_t), const void *loaded) {
  static double times[NAMES];
  double first = 0;
  for (uint32_t i = 0; i <= NAMES; i++) {
    char params[128], name[NAME_LENGTH], wanted[64];
    uint32_t row = (uint32_t)(mixed(i + 99) % p->count);
    name_of(row, name);
    sprintf(params, "{\"overlay\":\"o1\",\"whereClause\":\"name = '%.*s'\"}", NAME_LENGTH, name);
    double start = now();
    Frame frame = call(s, 10 + i, "feature/queryIds", params);
    *(i ? &times[i - 1] : &first) = now() - start;
    sprintf(wanted, "\"ids\":[%lld]", (long long)id_of_row(loaded, row));
    if (!memmem(frame.data, frame.length, wanted, strlen(wanted)))
      fail("not %s for %s: %.*s", wanted, params, (int)frame.length, frame.data);
  }
  printf("equality_first_milliseconds %.3f\n", first * 1e3);
  printf("equality_microseconds %.2f\n", median(times, NAMES) * 1e6);
}

#endif
