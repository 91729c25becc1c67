// Texts of converted values: arrays of numbers, dates and times.

extension PropertyToken {
  /// The text of an array of numbers, with each number as a double.
  public var numbersText: String {
    let items = ArrayItems(text).map { item in
      switch item.type?.type {
      case .integer, .integer64: Int64(String(decoding: item.text, as: UTF8.self)).map { "\(Double($0))" } ?? "null"
      default: String(decoding: item.text, as: UTF8.self)
      }
    }
    return "[" + items.joined(separator: ",") + "]"
  }

  /// A date or time in RFC 3339; nil if the string is neither.
  public func momentText(_ form: ColumnForm) -> String? {
    var decoded: [UInt8] = []
    appendDecoded(text, to: &decoded)
    let moment = decoded.withUnsafeBytes { Moment($0) }
    switch form {
    case .date: return moment?.text(as: .date)
    case .time: return moment?.text(as: .time)
    case .dateTime: return moment?.text(as: .dateTime)
    default: return nil
    }
  }
}
