// What is called of Pango, GObject and fontconfig, as their binary interfaces state it: their headers would bring all of GLib.
#ifndef CCAIRO_PANGO_H
#define CCAIRO_PANGO_H

#include <cairo/cairo.h>
#include <stdint.h>

typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoContext PangoContext;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoFont PangoFont;
typedef struct _PangoFontFamily PangoFontFamily;
typedef struct _PangoFontDescription PangoFontDescription;

/// Lengths of Pango are in units of 1/1024.
enum { CCAIRO_PANGO_SCALE = 1024 };
enum { CCAIRO_PANGO_ALIGN_LEFT, CCAIRO_PANGO_ALIGN_CENTER, CCAIRO_PANGO_ALIGN_RIGHT };
enum { CCAIRO_PANGO_STYLE_NORMAL, CCAIRO_PANGO_STYLE_OBLIQUE, CCAIRO_PANGO_STYLE_ITALIC };
enum { CCAIRO_PANGO_WEIGHT_NORMAL = 400, CCAIRO_PANGO_WEIGHT_BOLD = 700 };

typedef struct {
  int x, y, width, height;
} PangoRectangle;

typedef struct {
  uint32_t glyph;
  int32_t width, x_offset, y_offset;
  unsigned attributes;
} PangoGlyphInfo;

typedef struct {
  int num_glyphs;
  PangoGlyphInfo *glyphs;
  /// For each glyph, the byte at which the text of its cluster begins.
  int *log_clusters;
  int space;
} PangoGlyphString;

typedef struct {
  int offset, length, num_chars;
  void *shape_engine, *lang_engine;
  PangoFont *font;
} PangoItem;

typedef struct {
  PangoItem *item;
  PangoGlyphString *glyphs;
} PangoGlyphItem;

typedef struct _PangoRunList {
  PangoGlyphItem *data;
  struct _PangoRunList *next;
} PangoRunList;

typedef struct {
  PangoLayout *layout;
  int start_index, length;
  /// From the left to the right.
  PangoRunList *runs;
} PangoLayoutLine;

PangoFontMap *pango_cairo_font_map_new(void);
PangoContext *pango_font_map_create_context(PangoFontMap *map);
void pango_cairo_context_set_font_options(PangoContext *context, const cairo_font_options_t *options);
void pango_context_set_round_glyph_positions(PangoContext *context, int rounds);
PangoLayout *pango_layout_new(PangoContext *context);
void pango_layout_set_text(PangoLayout *layout, const char *text, int length);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_alignment(PangoLayout *layout, int alignment);
void pango_layout_set_single_paragraph_mode(PangoLayout *layout, int isSingle);
void pango_layout_get_extents(PangoLayout *layout, PangoRectangle *ink, PangoRectangle *logical);
int pango_layout_get_baseline(PangoLayout *layout);
int pango_layout_get_unknown_glyphs_count(PangoLayout *layout);
PangoLayoutLine *pango_layout_get_line_readonly(PangoLayout *layout, int line);
void pango_cairo_show_layout(cairo_t *cairo, PangoLayout *layout);
void pango_cairo_layout_path(cairo_t *cairo, PangoLayout *layout);
void pango_cairo_show_glyph_string(cairo_t *cairo, PangoFont *font, PangoGlyphString *glyphs);
void pango_cairo_glyph_string_path(cairo_t *cairo, PangoFont *font, PangoGlyphString *glyphs);
PangoFontDescription *pango_font_description_new(void);
void pango_font_description_free(PangoFontDescription *description);
void pango_font_description_set_family(PangoFontDescription *description, const char *family);
void pango_font_description_set_style(PangoFontDescription *description, int style);
void pango_font_description_set_weight(PangoFontDescription *description, int weight);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void pango_font_map_list_families(PangoFontMap *map, PangoFontFamily ***families, int *count);
const char *pango_font_family_get_name(PangoFontFamily *family);

void g_object_unref(void *object);
void g_free(void *memory);

int FcInit(void);
void *FcConfigGetFontDirs(void *config);
const unsigned char *FcStrListNext(void *list);
void FcStrListDone(void *list);

#endif
