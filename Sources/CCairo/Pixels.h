// Arithmetic of premultiplied pixels, 0xAARRGGBB.
#ifndef CCAIRO_PIXELS_H
#define CCAIRO_PIXELS_H

#include <stdint.h>

// The channels of a pixel, two at a time, times a share of 255.
static inline uint32_t times(uint32_t pixel, uint32_t share) {
  uint32_t even = (pixel & 0xff00ff) * share + 0x800080, odd = ((pixel >> 8) & 0xff00ff) * share + 0x800080;
  even = ((even + ((even >> 8) & 0xff00ff)) >> 8) & 0xff00ff;
  odd = (odd + ((odd >> 8) & 0xff00ff)) & 0xff00ff00;
  return even | odd;
}

// One pixel over another, both premultiplied.
static inline uint32_t over(uint32_t source, uint32_t below) { return source + times(below, 255 - (source >> 24)); }

static inline uint32_t premultiplied(uint32_t color) {
  uint32_t alpha = color & 255;
  return alpha << 24 | (times(color >> 8, alpha) & 0xffffff);
}

#endif
