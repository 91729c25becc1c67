// A picture as a list of what is to be drawn, in 32-bit words: how it is read.

/// What a picture says next. Buffers are parts of what is read, and valid as long as it; those of positions alternate x and y.
public enum PictureCommand {
  case set(Marker)
  case setStroke(Stroke)
  case setFill(Fill)
  case setFont(Font)
  case item(UInt32)
  case points(UnsafeBufferPointer<Float>)
  case lines([UnsafeBufferPointer<Float>])
  case area([UnsafeBufferPointer<Float>])
  case text(String, at: SIMD2<Float>, angle: Float, Anchor)
  case textAlong(String, UnsafeBufferPointer<Float>)
  case image(UnsafeBufferPointer<UInt32>, width: Int, height: Int, min: SIMD2<Float>, max: SIMD2<Float>)
  case beginGroup(opacity: Float)
  case endGroup
  case beginClip(min: SIMD2<Float>, max: SIMD2<Float>)
  case endClip
}

/// Reads what ``PictureWriter`` wrote.
public struct PictureReader {
  /// The words are not those of a picture.
  public struct Malformed: Error {}

  private let words: UnsafeBufferPointer<UInt32>
  private var next = 0

  /// - Parameter bytes: aligned to four bytes, and longer-lived than what is read of them.
  public init(_ bytes: UnsafeRawBufferPointer) { words = bytes.bindMemory(to: UInt32.self) }

  /// The next command; nil at the end.
  public mutating func command() throws(Malformed) -> PictureCommand? {
    guard next < words.count else { return nil }
    guard let code = Code(rawValue: try word()) else { throw Malformed() }
    switch code {
    case .marker:
      return .set(
        Marker(try value(), color: try word(), size: try float(), angle: try float(), offset: try position(), outline: try stroke()))
    case .stroke:
      guard let stroke = try stroke() else { throw Malformed() }
      return .setStroke(stroke)
    case .fill: return .setFill(Fill(try value(), color: try word()))
    case .font:
      return .setFont(
        Font(
          family: try text(), size: try float(), slant: try value(), isBold: try word() != 0, color: try word(),
          haloColor: try word(), haloWidth: try float()))
    case .item: return .item(try word())
    case .points: return .points(try positions())
    case .lines: return .lines(try runs())
    case .area: return .area(try runs())
    case .text: return .text(try text(), at: try position(), angle: try float(), Anchor(try value(), try value()))
    case .textAlong: return .textAlong(try text(), try positions())
    case .image:
      let (low, high) = (try position(), try position())
      let (width, height) = (Int(try word()), Int(try word()))
      let (count, overflows) = width.multipliedReportingOverflow(by: height)
      guard !overflows else { throw Malformed() }
      return .image(try take(count), width: width, height: height, min: low, max: high)
    case .beginGroup: return .beginGroup(opacity: try float())
    case .endGroup: return .endGroup
    case .beginClip: return .beginClip(min: try position(), max: try position())
    case .endClip: return .endClip
    }
  }

  private mutating func take(_ count: Int) throws(Malformed) -> UnsafeBufferPointer<UInt32> {
    guard count >= 0, count <= words.count - next else { throw Malformed() }
    defer { next += count }
    return UnsafeBufferPointer(rebasing: words[next..<next + count])
  }

  private mutating func word() throws(Malformed) -> UInt32 {
    guard next < words.count else { throw Malformed() }
    defer { next += 1 }
    return words[next]
  }

  private mutating func float() throws(Malformed) -> Float { Float(bitPattern: try word()) }
  private mutating func position() throws(Malformed) -> SIMD2<Float> { SIMD2(try float(), try float()) }

  private mutating func value<V: RawRepresentable<UInt32>>() throws(Malformed) -> V {
    guard let value = V(rawValue: try word()) else { throw Malformed() }
    return value
  }

  private mutating func stroke() throws(Malformed) -> Stroke? {
    guard try word() != 0 else { return nil }
    return Stroke(dashes: try value(), color: try word(), width: try float())
  }

  private mutating func text() throws(Malformed) -> String {
    let count = Int(try word())
    let bytes = UnsafeRawBufferPointer(try take((count + 3) / 4))
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  private mutating func positions() throws(Malformed) -> UnsafeBufferPointer<Float> {
    let count = Int(try word())
    let words = try take(2 * count)
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(words.baseAddress)?.assumingMemoryBound(to: Float.self), count: words.count)
  }

  private mutating func runs() throws(Malformed) -> [UnsafeBufferPointer<Float>] {
    let count = Int(try word())
    guard count <= words.count - next else { throw Malformed() }
    var runs: [UnsafeBufferPointer<Float>] = []
    runs.reserveCapacity(count)
    for _ in 0..<count { runs.append(try positions()) }
    return runs
  }
}
