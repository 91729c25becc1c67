// Conversions between the enumerations of the protocol and of the model: switches over all cases, so that a case that is missing
// or differs on one side does not compile.

struct ModelWords {
  let definition: Definition

  func file() -> String {
    let types = definition.types.filter { $0.model != nil }
    var lines = Lines(imports: Set(types.compactMap(\.model?.module) + ["GeoProtocol"]).sorted())
    for type in types {
      guard let model = type.model, case .enumeration(let values) = type.kind else { continue }
      let word = Names.upperCamel(type.domain) + "Protocol." + type.name
      let cases = values.map { Names.swiftCase($0.value) }
      lines.block("extension \(model.name): WireWord {") { lines in
        lines.block("package init(_ wire: \(word)) {") { lines in
          lines.add("switch wire {")
          for each in cases { lines.add("case .\(each): self = .\(each)") }
          lines.add("}")
        }
        lines.block("package var wire: \(word) {") { lines in
          lines.add("switch self {")
          for each in cases { lines.add("case .\(each): .\(each)") }
          lines.add("}")
        }
      }
      lines.add()
    }
    lines.block("extension Wire {") { lines in
      lines.add("/// The enumerations of the model that have the words of one of the protocol.")
      let words = types.compactMap { $0.model.map { $0.name + ".self" } }
      lines.list("package static let words: [any WireWord.Type] = [", words, "]", width: 104)
    }
    return lines.text
  }
}
