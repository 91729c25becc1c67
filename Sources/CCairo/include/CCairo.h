// The functions of Cairo, Pango, fontconfig and libspng that a painter calls, found on first use by the process that paints.
#ifndef CCAIRO_H
#define CCAIRO_H

#include <cairo/cairo-pdf.h>
#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <spng.h>
#include <stdbool.h>
#include <stddef.h>

#include "Pango.h"

/// Every function of Cairo that is called, once. Adding one here is all it takes.
#define CCAIRO_FUNCTIONS(X) \
  X(cairo_create) X(cairo_destroy) X(cairo_status) X(cairo_status_to_string) X(cairo_save) X(cairo_restore) X(cairo_push_group) \
  X(cairo_pop_group_to_source) X(cairo_mask_surface) X(cairo_get_group_target) X(cairo_paint) X(cairo_paint_with_alpha) X(cairo_set_operator) \
  X(cairo_set_source) X(cairo_set_source_rgba) X(cairo_set_antialias) X(cairo_set_dash) X(cairo_set_fill_rule) X(cairo_set_line_cap) \
  X(cairo_set_line_join) X(cairo_set_line_width) X(cairo_translate) X(cairo_scale) X(cairo_rotate) X(cairo_new_path) \
  X(cairo_new_sub_path) X(cairo_move_to) X(cairo_line_to) X(cairo_close_path) X(cairo_arc) X(cairo_rectangle) X(cairo_fill) \
  X(cairo_fill_preserve) X(cairo_show_page) X(cairo_stroke) X(cairo_clip) X(cairo_pattern_create_for_surface) X(cairo_pattern_set_extend) \
  X(cairo_pattern_set_filter) X(cairo_pattern_set_matrix) X(cairo_pattern_destroy) X(cairo_image_surface_create) \
  X(cairo_image_surface_create_for_data) X(cairo_image_surface_get_data) X(cairo_image_surface_get_stride) \
  X(cairo_image_surface_get_width) X(cairo_image_surface_get_height) X(cairo_surface_create_similar) X(cairo_surface_destroy) \
  X(cairo_surface_finish) X(cairo_surface_flush) X(cairo_surface_mark_dirty) X(cairo_surface_status) \
  X(cairo_surface_get_device_offset) X(cairo_svg_surface_create_for_stream) X(cairo_pdf_surface_create_for_stream) \
  X(cairo_pdf_surface_set_metadata) X(cairo_svg_surface_set_document_unit) X(cairo_font_options_create) X(cairo_font_options_destroy) X(cairo_font_options_set_antialias) \
  X(cairo_font_options_set_hint_style) X(cairo_font_options_set_hint_metrics)

#define CCAIRO_TEXT_FUNCTIONS(X) \
  X(pango_cairo_font_map_new) X(pango_font_map_create_context) X(pango_cairo_context_set_font_options) \
  X(pango_context_set_round_glyph_positions) X(pango_layout_new) X(pango_layout_set_text) X(pango_layout_set_font_description) \
  X(pango_layout_set_alignment) X(pango_layout_set_single_paragraph_mode) X(pango_layout_get_extents) X(pango_layout_get_baseline) \
  X(pango_layout_get_unknown_glyphs_count) X(pango_layout_get_line_readonly) X(pango_cairo_show_layout) X(pango_cairo_layout_path) \
  X(pango_cairo_show_glyph_string) X(pango_cairo_glyph_string_path) X(pango_font_description_new) X(pango_font_description_free) \
  X(pango_font_description_set_family) X(pango_font_description_set_style) X(pango_font_description_set_weight) \
  X(pango_font_description_set_absolute_size) X(pango_font_map_list_families) X(pango_font_family_get_name) X(g_object_unref) \
  X(g_free) X(FcInit) X(FcConfigGetFontDirs) X(FcStrListNext) X(FcStrListDone)

#define CCAIRO_PNG_FUNCTIONS(X) \
  X(spng_ctx_new) X(spng_ctx_free) X(spng_set_png_stream) X(spng_set_ihdr) X(spng_set_option) X(spng_encode_image) \
  X(spng_encode_row) X(spng_strerror)

/// The libraries' functions, each of the type that its header declares.
struct ccairo_functions {
#define CCAIRO_FIELD(name) __typeof__(&name) _Nonnull name;
  CCAIRO_FUNCTIONS(CCAIRO_FIELD)
  CCAIRO_TEXT_FUNCTIONS(CCAIRO_FIELD)
  CCAIRO_PNG_FUNCTIONS(CCAIRO_FIELD)
#undef CCAIRO_FIELD
};

/// Opens the libraries the first time; later calls give the same answer. Safe from any thread.
///
/// Returns NULL where one is not on this machine or lacks a function; `*reason` then says which, for good.
const struct ccairo_functions *_Nullable ccairo_load(const char *_Nullable *_Nonnull reason);


/// What is in a row of a stamp: pixels from `first` to `last`, of which those from `solid` to `edge` are opaque.
struct ccairo_run {
  int32_t first, solid, edge, last;
};

/// Finds the runs of an image, one for each row.
void ccairo_find_runs(const uint32_t *_Nonnull pixels, int32_t width, int32_t height, struct ccairo_run *_Nonnull runs);

/// Colours a shape: its inside, and over it its edge, each by how much of a pixel it covers. Colours are 0xRRGGBBAA.
void ccairo_color(const uint8_t *_Nonnull inside, const uint8_t *_Nonnull edge, size_t count, uint32_t fill, uint32_t stroke,
                  uint32_t *_Nonnull pixels);

/// A marker's picture at one of the places within a pixel: premultiplied 0xAARRGGBB in rows from the top.
struct ccairo_stamp {
  /// NULL until it is painted.
  const uint32_t *_Nullable pixels;
  const struct ccairo_run *_Nullable runs;
  /// Of the top left pixel, from the pixel that the marker's point is in.
  int32_t left, top;
  int32_t width, height;
};

/// Places within a pixel that stamps are made for, each way.
enum { CCAIRO_PHASES = 8 };

/// Where stamps are put: pixels of an image, of which those of a box are changed.
struct ccairo_target {
  uint32_t *_Nonnull pixels;
  /// From row to row, in pixels.
  ptrdiff_t stride;
  int32_t left, top, right, bottom;
};

/// Puts the stamp of its phase at each position (x, y; times `scale`, plus an offset) over what is there, or, if `number` is not 0, fills
/// the pixels that it covers by half or more with a number that counts on from position to position.
///
/// Returns the number of positions that are done: less than `count` if the stamp for the next is missing; its index is in `*missing`.
size_t ccairo_stamp(const struct ccairo_target *_Nonnull target, const struct ccairo_stamp *_Nonnull stamps,
                    const float *_Nonnull positions, size_t count, double scale, double dx, double dy, uint32_t number,
                    size_t *_Nonnull missing);

/// A shape of lines or rings: its parts of the lists, its box, half of its width.
struct ccairo_shape {
  size_t first_run, end_run, start;
  double left, top, right, bottom, radius;
  uint32_t color;
};

/// Shapes that are to be painted, in pixels; zeros at first. What is not NULL is freed by its owner.
struct ccairo_shapes {
  double *_Nullable places;
  size_t count, capacity;
  /// For each line or ring the index of its end.
  size_t *_Nullable runs;
  size_t run_count, run_capacity;
  struct ccairo_shape *_Nullable shapes;
  size_t shape_count, shape_capacity;
};

/// Begins a shape; false without memory.
bool ccairo_begin_shape(struct ccairo_shapes *_Nonnull shapes);

/// Appends positions (x, y; times `scale`) as a line or ring, without those that are too near to the last to be seen; false without memory.
bool ccairo_add_run(struct ccairo_shapes *_Nonnull shapes, const float *_Nonnull positions, size_t count, double scale);

/// Ends a shape of a colour 0xRRGGBBAA: its rings are filled by the even-odd rule if `width` is 0, else its lines are stroked as one figure
/// with round joins and caps. Returns false, without it, for a shape that Cairo paints faster; what is outside of a box is not seen.
bool ccairo_end_shape(struct ccairo_shapes *_Nonnull shapes, int32_t left, int32_t top, int32_t right, int32_t bottom, double width,
                      uint32_t color);

/// Paints the shapes, moved by whole pixels, and forgets them; the pixels are the same for any number of threads. False without memory.
bool ccairo_paint_shapes(struct ccairo_shapes *_Nonnull shapes, const struct ccairo_target *_Nonnull target, double dx, double dy, int threads);

/// Raises each byte of an image to twice the largest within a radius, in pixels; `to` is another image of the same form, of zeros.
void ccairo_widen(const uint8_t *_Nonnull from, uint8_t *_Nonnull to, ptrdiff_t stride, int width, int height, double radius);

/// Writes a row of premultiplied pixels as bytes of red, green, blue and, if the picture is not opaque, alpha, not premultiplied.
void ccairo_unpack_row(const uint32_t *_Nonnull pixels, size_t count, bool is_opaque, uint8_t *_Nonnull bytes);

#endif
