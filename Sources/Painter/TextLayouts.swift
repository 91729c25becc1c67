// Texts as Pango lays them out, kept from picture to picture.

import CCairo
import Pictures

/// A text laid out in a font; sizes in device-independent pixels.
final class TextLayout {
  let c: UnsafePointer<ccairo_functions>
  let handle: OpaquePointer
  /// How far its glyphs reach beyond its box, at most.
  let overhang: Double
  /// Its logical box.
  let left: Double
  let top: Double
  let width: Double
  let height: Double
  /// From the top to the baseline of the first line.
  let ascent: Double
  let missingGlyphs: Int

  fileprivate init(_ c: UnsafePointer<ccairo_functions>, _ handle: OpaquePointer) {
    (self.c, self.handle) = (c, handle)
    let unit = 1 / Double(CCAIRO_PANGO_SCALE)
    var (ink, box) = (PangoRectangle(), PangoRectangle())
    c.pointee.pango_layout_get_extents(handle, &ink, &box)
    func beyond(_ ink: (start: Int32, size: Int32), _ box: (start: Int32, size: Int32)) -> Double {
      max(Double(box.start) - Double(ink.start), Double(ink.start) + Double(ink.size) - Double(box.start) - Double(box.size), 0)
    }
    overhang = unit * max(beyond((ink.x, ink.width), (box.x, box.width)), beyond((ink.y, ink.height), (box.y, box.height)))
    (left, top) = (Double(box.x) * unit, Double(box.y) * unit)
    (width, height) = (Double(box.width) * unit, Double(box.height) * unit)
    ascent = Double(c.pointee.pango_layout_get_baseline(handle)) * unit - top
    missingGlyphs = Int(c.pointee.pango_layout_get_unknown_glyphs_count(handle))
  }

  deinit { c.pointee.g_object_unref(UnsafeMutableRawPointer(handle)) }

  var size: TextSize { TextSize(width: Float(width), height: Float(height), ascent: Float(ascent)) }
}

final class TextLayouts {
  private struct Key: Hashable {
    let text: String
    let family: String
    let size: Float
    let slant: Font.Slant
    let isBold: Bool
    /// Nil for a text along a line.
    let alignment: Anchor.Horizontal?
  }

  private static let limit = 4096

  private let c: UnsafePointer<ccairo_functions>
  private let map: OpaquePointer?
  private let context: OpaquePointer?
  /// Names of installed families, and those that mean any, in lower case.
  private let families: Set<String>
  private var layouts: [Key: TextLayout] = [:]
  /// What is to be said of the texts that were asked for.
  var notes = PaintNotes()

  init(_ c: UnsafePointer<ccairo_functions>) {
    self.c = c
    map = c.pointee.pango_cairo_font_map_new()
    context = c.pointee.pango_font_map_create_context(map)
    // Sizes that do not depend on the place on the screen, and the same look whatever the machine's settings.
    let options = c.pointee.cairo_font_options_create()
    c.pointee.cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
    c.pointee.cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT)
    c.pointee.cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
    c.pointee.pango_cairo_context_set_font_options(context, options)
    c.pointee.cairo_font_options_destroy(options)
    c.pointee.pango_context_set_round_glyph_positions(context, 0)
    families = Self.families(c, map)
  }

  deinit {
    layouts = [:]
    if let context { c.pointee.g_object_unref(UnsafeMutableRawPointer(context)) }
    if let map { c.pointee.g_object_unref(UnsafeMutableRawPointer(map)) }
  }

  private static func families(_ c: UnsafePointer<ccairo_functions>, _ map: OpaquePointer?) -> Set<String> {
    var names: Set = ["", "sans", "sans-serif", "serif", "monospace", "cursive", "fantasy", "system-ui"]
    var list: UnsafeMutablePointer<OpaquePointer?>?
    var count: CInt = 0
    c.pointee.pango_font_map_list_families(map, &list, &count)
    guard let list else { return names }
    defer { c.pointee.g_free(list) }
    for index in 0..<Int(count) {
      guard let name = c.pointee.pango_font_family_get_name(list[index]) else { continue }
      names.insert(String(cString: name).lowercased())
    }
    return names
  }

  /// The layout of a text; what is missing is noted.
  ///
  /// - Parameter alignment: of its lines; nil for a text of one line.
  func layout(_ text: String, _ font: Font, _ alignment: Anchor.Horizontal?) throws(PaintFault) -> TextLayout {
    if !families.contains(font.family.lowercased()), !notes.missingFamilies.contains(font.family) {
      notes.missingFamilies.append(font.family)
    }
    let key = Key(
      text: text, family: font.family, size: font.size, slant: font.slant, isBold: font.isBold, alignment: alignment)
    let layout: TextLayout
    if let known = layouts[key] { layout = known } else {
      layout = TextLayout(c, try make(text, font, alignment))
      if layouts.count >= Self.limit { layouts.removeAll(keepingCapacity: true) }
      layouts[key] = layout
    }
    notes.missingGlyphs += layout.missingGlyphs
    return layout
  }

  private func make(_ text: String, _ font: Font, _ alignment: Anchor.Horizontal?) throws(PaintFault) -> OpaquePointer {
    guard let layout = c.pointee.pango_layout_new(context) else { throw .failed(reason: "Pango gives no layout") }
    let description = c.pointee.pango_font_description_new()
    c.pointee.pango_font_description_set_family(description, font.family.isEmpty ? "sans-serif" : font.family)
    let size = font.size.isFinite ? min(max(Double(font.size), 0.1), 2000) : 10
    c.pointee.pango_font_description_set_absolute_size(description, size * Double(CCAIRO_PANGO_SCALE))
    c.pointee.pango_font_description_set_weight(
      description, CInt(font.isBold ? CCAIRO_PANGO_WEIGHT_BOLD : CCAIRO_PANGO_WEIGHT_NORMAL))
    let slant =
      switch font.slant {
      case .normal: CCAIRO_PANGO_STYLE_NORMAL
      case .italic: CCAIRO_PANGO_STYLE_ITALIC
      case .oblique: CCAIRO_PANGO_STYLE_OBLIQUE
      }
    c.pointee.pango_font_description_set_style(description, CInt(slant))
    c.pointee.pango_layout_set_font_description(layout, description)
    c.pointee.pango_font_description_free(description)
    let side =
      switch alignment {
      case .center: CCAIRO_PANGO_ALIGN_CENTER
      case .right: CCAIRO_PANGO_ALIGN_RIGHT
      case .left, .justify, nil: CCAIRO_PANGO_ALIGN_LEFT
      }
    c.pointee.pango_layout_set_alignment(layout, CInt(side))
    if alignment == nil { c.pointee.pango_layout_set_single_paragraph_mode(layout, 1) }
    // Pango adds up widths and heights in 32 bits; what is left out would be a million pixels away.
    let longest = Int(Double(1 << 30) / (max(size, 1) * Double(CCAIRO_PANGO_SCALE)))
    let shown = text.utf8.count > longest ? String(text.unicodeScalars.prefix(longest)) : text
    let bytes = Array(shown.drawable.utf8)
    bytes.withUnsafeBytes { bytes in
      c.pointee.pango_layout_set_text(layout, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(bytes.count))
    }
    return layout
  }
}

extension Unicode.Scalar {
  fileprivate var isCharacter: Bool { value != 0 && !(0xfdd0...0xfdef).contains(value) && value & 0xfffe != 0xfffe }
}

extension String {
  /// With a sign in place of what is no character: Cairo writes no PDF with it, and at NUL a text would end.
  fileprivate var drawable: String {
    guard !unicodeScalars.allSatisfy(\.isCharacter) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.isCharacter ? $0 : "\u{fffd}" }))
  }
}
