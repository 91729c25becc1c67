// A growing buffer of bytes: the programs here write JSON without a library.

#ifndef BUFFER_H
#define BUFFER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *data;
  size_t length, capacity;
} Buffer;

static inline void *checked(void *p) {
  if (!p) {
    fputs("out of memory\n", stderr);
    exit(3);
  }
  return p;
}

// Room for `n` more bytes at the end.
static inline char *reserve(Buffer *b, size_t n) {
  if (b->capacity - b->length < n) {
    size_t wanted = b->capacity ? b->capacity * 2 : 4096;
    while (wanted - b->length < n) wanted *= 2;
    b->data = checked(realloc(b->data, wanted));
    b->capacity = wanted;
  }
  return b->data + b->length;
}

static inline void append(Buffer *b, const void *bytes, size_t n) {
  memcpy(reserve(b, n), bytes, n);
  b->length += n;
}

#define append_literal(b, text) append((b), (text), sizeof(text) - 1)

static inline void append_integer(Buffer *b, int64_t value) {
  char digits[20], *end = digits + sizeof digits, *p = end;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do *--p = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) append_literal(b, "-");
  append(b, p, (size_t)(end - p));
}

// Makes the bytes of `b` from `start` on the body of a frame.
static inline void frame_from(Buffer *b, size_t start) {
  char header[48];
  size_t length = b->length - start;
  size_t n = (size_t)snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length);
  reserve(b, n);
  memmove(b->data + start + n, b->data + start, length);
  memcpy(b->data + start, header, n);
  b->length += n;
}

#endif
