// The loops over pixels: stamps, halos, and rows for PNG.
#include "CCairo.h"
#include "Pixels.h"

#include <math.h>
#include <string.h>

void ccairo_color(const uint8_t *inside, const uint8_t *edge, size_t count, uint32_t fill, uint32_t stroke, uint32_t *pixels) {
  fill = premultiplied(fill);
  stroke = premultiplied(stroke);
  for (size_t i = 0; i < count; i++) pixels[i] = over(times(stroke, edge[i]), times(fill, inside[i]));
}

static inline void put_part(uint32_t *to, const uint32_t *from, int64_t first, int64_t last) {
  for (int64_t x = first; x < last; x++) to[x] = over(from[x], to[x]);
}

static inline void fill_part(uint32_t *to, const uint32_t *from, int64_t first, int64_t last, uint32_t number) {
  for (int64_t x = first; x < last; x++) to[x] = from[x] >> 31 ? number : to[x];
}

static inline int64_t bounded(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

// One row of a stamp, whose pixels from `low` to `high` are within the picture.
static inline void put_row(uint32_t *to, const uint32_t *from, struct ccairo_run run, int64_t low, int64_t high, uint32_t number) {
  int64_t first = bounded(run.first, low, high), last = bounded(run.last, low, high);
  int64_t solid = bounded(run.solid, low, high), edge = bounded(run.edge, low, high);
  if (number) {
    fill_part(to, from, first, solid, number);
    for (int64_t x = solid; x < edge; x++) to[x] = number;
    fill_part(to, from, edge, last, number);
  } else {
    put_part(to, from, first, solid);
    for (int64_t x = solid; x < edge; x++) to[x] = from[x];
    put_part(to, from, edge, last);
  }
}

void ccairo_find_runs(const uint32_t *pixels, int32_t width, int32_t height, struct ccairo_run *runs) {
  for (int32_t y = 0; y < height; y++, pixels += width) {
    struct ccairo_run run = {0, 0, 0, 0};
    int32_t last = width, start = 0;
    while (last > 0 && !pixels[last - 1]) last--;
    while (start < last && !pixels[start]) start++;
    run = (struct ccairo_run){start, last, last, last};
    // The longest part without a gap.
    for (int32_t x = start; x < last;) {
      if (pixels[x] >> 24 != 255) {
        x++;
        continue;
      }
      int32_t from = x;
      while (x < last && pixels[x] >> 24 == 255) x++;
      if (x - from > run.edge - run.solid) run.solid = from, run.edge = x;
    }
    runs[y] = run;
  }
}

size_t ccairo_stamp(const struct ccairo_target *target, const struct ccairo_stamp *stamps, const float *positions, size_t count,
                    double scale, double dx, double dy, uint32_t number, size_t *missing) {
  const struct ccairo_target at = *target;
  // Beyond these no stamp reaches the picture, and numbers fit.
  const double limit = 1 << 24;
  for (size_t i = 0; i < count; i++) {
    double x = positions[2 * i] * scale + dx, y = positions[2 * i + 1] * scale + dy;
    if (!(x > -limit && x < limit && y > -limit && y < limit)) continue;
    // To the nearest place that has a stamp.
    int64_t column = (int64_t)floor(x * CCAIRO_PHASES + 0.5), row = (int64_t)floor(y * CCAIRO_PHASES + 0.5);
    size_t phase = (size_t)(row & (CCAIRO_PHASES - 1)) * CCAIRO_PHASES + (size_t)(column & (CCAIRO_PHASES - 1));
    const struct ccairo_stamp *stamp = stamps + phase;
    if (!stamp->pixels) {
      *missing = phase;
      return i;
    }
    int64_t left = (column >> 3) + stamp->left, top = (row >> 3) + stamp->top;
    int64_t first = left < at.left ? at.left : left, last = left + stamp->width > at.right ? at.right : left + stamp->width;
    if (first >= last) continue;
    int64_t from = top < at.top ? at.top : top, to = top + stamp->height > at.bottom ? at.bottom : top + stamp->height;
    const uint32_t value = number ? number + (uint32_t)i : 0;
    uint32_t *place = at.pixels + from * at.stride + left;
    for (int64_t y = from; y < to; y++, place += at.stride)
      put_row(place, stamp->pixels + (y - top) * stamp->width, stamp->runs[y - top], first - left, last - left, value);
  }
  return count;
}

void ccairo_widen(const uint8_t *from, uint8_t *to, ptrdiff_t stride, int width, int height, double radius) {
  int reach = (int)ceil(radius);
  for (int down = -reach; down <= reach; down++) {
    for (int right = -reach; right <= reach; right++) {
      double cover = radius + 0.5 - sqrt((double)(right * right + down * down));
      unsigned weight = cover >= 1 ? 256 : cover > 0 ? (unsigned)(cover * 256) : 0;
      if (!weight) continue;
      int first = right < 0 ? -right : 0, last = right > 0 ? width - right : width;
      for (int y = down < 0 ? -down : 0; y < (down > 0 ? height - down : height); y++) {
        const uint8_t *source = from + y * stride;
        uint8_t *target = to + (y + down) * stride + right;
        for (int x = first; x < last; x++) {
          // A thin stem may lie in two pixels, half in each.
          unsigned full = source[x] < 128 ? 2u * source[x] : 255u;
          uint8_t value = (uint8_t)(full * weight >> 8);
          target[x] = value > target[x] ? value : target[x];
        }
      }
    }
  }
}

void ccairo_unpack_row(const uint32_t *pixels, size_t count, bool is_opaque, uint8_t *bytes) {
  if (is_opaque) {
    for (size_t i = 0; i < count; i++, bytes += 3) {
      uint32_t pixel = pixels[i];
      bytes[0] = (uint8_t)(pixel >> 16);
      bytes[1] = (uint8_t)(pixel >> 8);
      bytes[2] = (uint8_t)pixel;
    }
    return;
  }
  for (size_t i = 0; i < count; i++, bytes += 4) {
    uint32_t pixel = pixels[i], alpha = pixel >> 24;
    uint32_t red = pixel >> 16 & 255, green = pixel >> 8 & 255, blue = pixel & 255;
    if (alpha != 255 && alpha != 0) {
      red = (red * 255 + alpha / 2) / alpha;
      green = (green * 255 + alpha / 2) / alpha;
      blue = (blue * 255 + alpha / 2) / alpha;
    }
    bytes[0] = (uint8_t)red;
    bytes[1] = (uint8_t)green;
    bytes[2] = (uint8_t)blue;
    bytes[3] = (uint8_t)alpha;
  }
}
