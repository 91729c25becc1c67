// Paints pictures by Cairo and Pango.

import CCairo
import Pictures

/// Why nothing was painted.
public enum PaintFault: Error, Hashable, Sendable {
  /// A library is not installed.
  case unavailable(reason: String)
  case failed(reason: String)
}

/// Paints one picture after the other and keeps what the next may need. For one thread.
public final class Painter {
  let c: UnsafePointer<ccairo_functions>
  let texts: TextLayouts
  let stamps = StampStore()
  /// A PDF of which further pages are to come.
  private var book: Canvas?

  public init() throws(PaintFault) {
    c = try Self.functions()
    texts = TextLayouts(c)
  }

  private static func functions() throws(PaintFault) -> UnsafePointer<ccairo_functions> {
    var reason: UnsafePointer<CChar>?
    guard let functions = ccairo_load(&reason) else {
      throw .unavailable(reason: reason.map { String(cString: $0) } ?? "Cairo did not load")
    }
    return functions
  }

  /// Loads the libraries and the list of fonts; returns the folders of the fonts.
  ///
  /// Pango begins a thread when it is used first, which a later restriction would leave out; this begins none.
  public static func loadFonts() throws(PaintFault) -> [String] {
    let c = try functions()
    _ = c.pointee.FcInit()
    guard let list = c.pointee.FcConfigGetFontDirs(nil) else { return [] }
    defer { c.pointee.FcStrListDone(list) }
    var folders: [String] = []
    while let folder = c.pointee.FcStrListNext(list) { folders.append(String(cString: folder)) }
    return folders
  }

  /// Paints a picture.
  ///
  /// - Parameters:
  ///   - words: what ``PictureWriter`` wrote, aligned to four bytes.
  ///   - sink: takes the bytes of the picture, part by part; false if it cannot.
  public func paint(
    _ job: PictureJob, _ words: UnsafeRawBufferPointer, to sink: @escaping (UnsafeRawBufferPointer) -> Bool
  ) throws(PaintFault) -> PaintNotes {
    texts.notes = PaintNotes()
    let canvas: Canvas
    if job.isFirst {
      canvas = try Canvas(self, job, sink)
    } else {
      guard let book else { throw .failed(reason: "the page belongs to no book") }
      book.sink.begin(sink)
      canvas = book
    }
    book = nil
    try canvas.beginPage()
    try canvas.draw(words)
    if job.isLast { try canvas.finish() } else {
      try canvas.endPage()
      book = canvas
    }
    return texts.notes
  }

  /// The sizes of the texts of a picture, in order.
  public func measure(_ words: UnsafeRawBufferPointer) throws(PaintFault) -> [TextSize] {
    var reader = PictureReader(words)
    var sizes: [TextSize] = []
    var font: Font?
    while let command = try reader.next() {
      switch command {
      case .setFont(let next): font = next
      case .text(let text, _, _, let anchor):
        guard let font else { throw .malformed }
        sizes.append(try texts.layout(text, font, anchor.horizontal).size)
      case .textAlong(let text, _):
        guard let font else { throw .malformed }
        sizes.append(try texts.layout(text, font, nil).size)
      default: break
      }
    }
    return sizes
  }
}

extension PaintFault {
  static var malformed: PaintFault { .failed(reason: "the words are not those of a picture") }
}

extension PictureReader {
  mutating func next() throws(PaintFault) -> PictureCommand? {
    do throws(Malformed) { return try command() } catch { throw .malformed }
  }
}
