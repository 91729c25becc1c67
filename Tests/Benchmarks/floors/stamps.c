// Puts a million stamps of a marker into a picture and encodes it by libspng; and Cairo's own encoder, for its time and bytes.
//
//   stamps FILE     positions, as x and y in 32-bit floats
#include <cairo/cairo.h>
#include <math.h>
#include <spng.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { width = 1920, height = 1080, side = 13, middle = 6, phases = 8, rounds = 5 };

static uint32_t stamps[phases * phases][side * side], *picture;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static void paint_stamps(void) {
  for (int phase = 0; phase < phases * phases; phase++) {
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data((void *)stamps[phase], CAIRO_FORMAT_ARGB32, side, side, side * 4);
    cairo_t *cairo = cairo_create(surface);
    cairo_arc(cairo, middle + (double)(phase % phases) / phases, middle + (double)(phase / phases) / phases, 4, 0, 2 * M_PI);
    cairo_set_source_rgb(cairo, 1, 0.5, 0);
    cairo_fill_preserve(cairo);
    cairo_set_source_rgb(cairo, 0, 0, 0);
    cairo_set_line_width(cairo, 1);
    cairo_stroke(cairo);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
  }
}

static uint32_t mixed(uint32_t channel, uint32_t share) {
  uint32_t product = channel * share + 128;
  return (product + (product >> 8)) >> 8;
}

static void put(float x, float y) {
  int column = (int)floorf(x * phases + 0.5f), row = (int)floorf(y * phases + 0.5f);
  const uint32_t *stamp = stamps[(row & 7) * phases + (column & 7)];
  int left = (column >> 3) - middle, top = (row >> 3) - middle;
  int from = left < 0 ? -left : 0, to = left + side > width ? width - left : side;
  for (int v = top < 0 ? -top : 0; v < side && top + v < height; v++) {
    uint32_t *pixel = picture + (top + v) * width + left;
    for (int u = from; u < to; u++) {
      uint32_t above = stamp[v * side + u], rest = 255 - (above >> 24), below = pixel[u];
      if (rest == 255) continue;
      if (rest)
        above += mixed(below >> 24, rest) << 24 | mixed(below >> 16 & 255, rest) << 16 | mixed(below >> 8 & 255, rest) << 8 |
                 mixed(below & 255, rest);
      pixel[u] = above;
    }
  }
}

static int count(spng_ctx *context, void *total, void *bytes, size_t length) {
  (void)context, (void)bytes;
  *(size_t *)total += length;
  return 0;
}

static cairo_status_t count_cairo(void *total, const unsigned char *bytes, unsigned length) {
  (void)bytes;
  *(size_t *)total += length;
  return CAIRO_STATUS_SUCCESS;
}

int main(int argc, char **arguments) {
  FILE *file = argc > 1 ? fopen(arguments[1], "rb") : NULL;
  if (!file) return fputs("usage: stamps FILE\n", stderr), 2;
  size_t points = 1000000;
  float *positions = malloc(points * 8);
  picture = malloc(width * height * 4);
  uint8_t *bytes = malloc(width * height * 3);
  if (!positions || !picture || !bytes) return 3;
  points = fread(positions, 8, points, file);
  paint_stamps();
  double best = INFINITY, best_cairo = INFINITY;
  size_t length = 0, cairo_length = 0;
  for (int round = 0; round < rounds; round++) {
    double start = now();
    for (int i = 0; i < width * height; i++) picture[i] = 0xffffffff;
    for (size_t i = 0; i < points; i++) put(positions[2 * i], positions[2 * i + 1]);
    for (int i = 0; i < width * height; i++) {
      bytes[3 * i] = (uint8_t)(picture[i] >> 16);
      bytes[3 * i + 1] = (uint8_t)(picture[i] >> 8);
      bytes[3 * i + 2] = (uint8_t)picture[i];
    }
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr head = {width, height, 8, SPNG_COLOR_TYPE_TRUECOLOR, 0, 0, 0};
    length = 0;
    spng_set_ihdr(context, &head);
    spng_set_png_stream(context, count, &length);
    spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, 2);
    spng_set_option(context, SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_NONE);
    int failure = spng_encode_image(context, bytes, width * height * 3, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    spng_ctx_free(context);
    if (failure) return fprintf(stderr, "stamps: %s\n", spng_strerror(failure)), 1;
    double took = now() - start;
    if (took < best) best = took;
    cairo_surface_t *surface = cairo_image_surface_create_for_data((void *)picture, CAIRO_FORMAT_RGB24, width, height, width * 4);
    cairo_length = 0;
    start = now();
    cairo_surface_write_to_png_stream(surface, count_cairo, &cairo_length);
    took = now() - start;
    if (took < best_cairo) best_cairo = took;
    cairo_surface_destroy(surface);
  }
  printf("markers_milliseconds %.2f\nencoded_milliseconds %.2f\nencoded_bytes %zu\n", best, best_cairo, cairo_length);
  return 0;
}
