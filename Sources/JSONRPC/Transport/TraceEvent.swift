// Events of a trace: copies of the traffic, passed from the loop to the writing thread.

/// One event. Bytes are copied on the loop, and examined on the file's thread.
enum TraceEvent: Sendable {
  case begun(Framing)
  case received([UInt8])
  case unframed([UInt8])
  case skipped(Int, endsLine: Bool)
  case sent([UInt8], isLate: Bool)
  case inputEnded
  case ended(code: Int32?)
  /// The number of events dropped here.
  case leftOut(Int)

  init(_ traffic: Traffic) {
    switch traffic {
    case .received(let text): self = .received(Array(text))
    case .unframed(let bytes): self = .unframed(Array(bytes))
    case .skipped(let count, let endsLine): self = .skipped(count, endsLine: endsLine)
    case .sent(let text, let isLate): self = .sent(Array(text), isLate: isLate)
    case .inputEnded: self = .inputEnded
    case .ended(let code): self = .ended(code: code)
    }
  }

  /// Approximate size in bytes.
  var size: Int {
    switch self {
    case .received(let bytes), .unframed(let bytes), .sent(let bytes, _): bytes.count + 64
    default: 64
    }
  }
}
