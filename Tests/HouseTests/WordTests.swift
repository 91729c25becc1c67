// Words that a string carries between two enumerations: what the compiler cannot compare is compared here.

import Foundation
import GeoProtocol
import Testing
import WireCoding

struct WordTests {
  /// Members of objects hold words as texts: the raw values of the model are those of the protocol.
  @Test(arguments: Wire.words.indices)
  func `the words of the model are those of the protocol`(index: Int) {
    func check<Model: WireWord>(_ model: Model.Type) {
      for word in Model.Word.allCases {
        let own = Model(word)
        #expect(own.wire == word)
        if let text = own as? any RawRepresentable<String> { #expect(text.rawValue == word.rawValue, "\(model)") }
      }
    }
    check(Wire.words[index])
  }

  /// `JSONRPC` does not know the protocol, so it names the kinds of its errors by strings.
  @Test func `the errors of JSON-RPC have the kinds and codes of the protocol`() {
    let files = SourceFile.all(in: ["Sources/JSONRPC"], endings: ["swift"]).filter { $0.text.contains("code: -3") }
    let texts = files.map(\.text).joined()
    let pairs = texts.matches(of: /code: (-[0-9]+),\s*kind: "([A-Za-z]+)"/).map { (String($0.2), Int($0.1)) }
    let syntax = texts.matches(of: /kind = "([A-Za-z]+)"/).map { (String($0.1), Optional(-32700)) }
    #expect(pairs.count > 15 && syntax.count > 2)
    for (kind, code) in pairs + syntax { #expect(GeoProtocol.ErrorKind(rawValue: kind)?.code == code, "\(kind)") }
  }
}
