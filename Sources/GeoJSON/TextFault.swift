// Finds where a text is not JSON. Called only for a text that could not be read, because it takes another pass over it.

/// The position of the first byte that is not valid JSON.
public struct TextFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// From 1.
  public let line: Int
  /// In characters, from 1.
  public let column: Int
  public let expected: String

  public var description: String { "line \(line), column \(column): expected \(expected)" }
}

/// Checks a text of any size and depth, token by token.
public struct TextCheck: ~Copyable {
  private enum State { case mark, start, value, firstItem, firstName, name, colon, behind, end }

  private var window: TextWindow
  private var state = State.mark
  /// The open arrays and objects, from the outermost; true for an object.
  private var open: [Bool] = []
  /// Whether values may follow each other at the top level.
  private let isSequence: Bool
  private var line = 1
  private var column = 1

  /// - Parameters:
  ///   - isSequence: whether values may follow each other.
  ///   - source: reads the file's next bytes into a buffer; returns their number, 0 at the end.
  public init(isSequence: Bool, _ source: @escaping (UnsafeMutableRawBufferPointer) -> Int) {
    window = TextWindow(source)
    self.isSequence = isSequence
  }

  /// The first fault; nil if there is none, or if a single string exceeds a reader's memory.
  public mutating func firstFault() -> TextFault? {
    var place = 0
    while true {
      var scanner = window.scanner(from: place)
      do throws(TextStop) {
        while true {
          try step(&scanner)
          place = scanner.offset
        }
      } catch {
        switch error {
        case .odd: return nil
        case .broken(let offset, let expected): return fault(offset, expected)
        case .more: break
        }
      }
      let isWhole = state == .end || (state == .start && isSequence)
      let (count, known) = (window.count, (line, column))
      self.count(to: place)
      do throws(TextStop) {
        guard try window.refill(keepingFrom: place) else {
          (line, column) = known
          return isWhole ? nil : fault(count, "more: the text ends here")
        }
      } catch { return nil }
      place = 0
    }
  }

  private mutating func fault(_ offset: Int, _ expected: StaticString) -> TextFault {
    count(to: offset)
    return TextFault(line: line, column: column, expected: "\(expected)")
  }

  /// Counts lines and characters of the buffer.
  private mutating func count(to end: Int) {
    for byte in UnsafeBufferPointer(start: window.scanner(from: 0).at, count: end) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
  }

  private mutating func step(_ scanner: inout TextScanner) throws(TextStop) {
    switch state {
    case .mark:
      guard scanner.end - scanner.at >= 3 || window.isAtEnd else { throw .more }
      if scanner.at[0] == 0xEF, scanner.at[1] == 0xBB, scanner.at[2] == 0xBF { scanner.at += 3 }
      state = .start
    case .start:
      while isSequence, scanner.next() == 0x1E { scanner.at += 1 }
      try readValue(&scanner)
    case .value: try readValue(&scanner)
    case .firstItem:
      guard try !closes(&scanner, UInt8(ascii: "]")) else { return }
      try readValue(&scanner)
    case .firstName:
      guard try !closes(&scanner, UInt8(ascii: "}")) else { return }
      state = .name
    case .name:
      try scanner.expect(UInt8(ascii: "\""), "a name in quotes")
      try skipString(&scanner)
      state = .colon
    case .colon:
      try scanner.expect(UInt8(ascii: ":"), "a colon")
      state = .value
    case .behind:
      let isObject = open.last ?? false
      let byte = scanner.next()
      guard byte != UInt8(ascii: ",") else {
        scanner.at += 1
        state = isObject ? .name : .value
        return
      }
      guard try closes(&scanner, isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
        throw scanner.stop(at: scanner.at, "a comma, or the end of the list")
      }
    case .end:
      _ = scanner.next()
      throw scanner.stop(at: scanner.at, "nothing behind the end")
    }
  }

  private mutating func closes(_ scanner: inout TextScanner, _ byte: UInt8) throws(TextStop) -> Bool {
    guard scanner.next() == byte else {
      if scanner.at >= scanner.end { throw .more }
      return false
    }
    scanner.at += 1
    open.removeLast()
    goOn()
    return true
  }

  /// Sets the state after a value.
  private mutating func goOn() { state = !open.isEmpty ? .behind : isSequence ? .start : .end }

  private mutating func readValue(_ scanner: inout TextScanner) throws(TextStop) {
    let byte = scanner.next()
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      scanner.at += 1
      open.append(byte == UInt8(ascii: "{"))
      state = byte == UInt8(ascii: "{") ? .firstName : .firstItem
      return
    case UInt8(ascii: "\""):
      scanner.at += 1
      try skipString(&scanner)
    case UInt8(ascii: "t"): try scanner.literal("true")
    case UInt8(ascii: "f"): try scanner.literal("false")
    case UInt8(ascii: "n"): try scanner.literal("null")
    default:
      guard TextScanner.beginsNumber(byte) else { throw scanner.stop(at: scanner.at, "a value") }
      // A number beyond the range of a double is JSON nevertheless.
      do throws(TextStop) { _ = try scanner.number() } catch {
        guard case .odd = error else { throw error }
      }
    }
    goOn()
  }

  private func skipString(_ scanner: inout TextScanner) throws(TextStop) {
    while true {
      do throws(TextStop) {
        _ = try scanner.string()
        return
      } catch {
        guard case .odd = error else { throw error }
        // A lone surrogate is JSON, and the scanner is after it; bytes that are not UTF-8 are not.
        if scanner.at.pointee >= 0x80 { throw scanner.stop(at: scanner.at, "text in UTF-8") }
      }
    }
  }
}
