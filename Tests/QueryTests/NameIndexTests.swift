// Names by text against a look at every name, and through edits.

import Geometry
import Testing

@testable import FeatureStore
@testable import Names

@Suite struct `Names by text` {
  @Test(arguments: UInt64(0)..<12)
  func `answers are those of a look at every name`(seed: UInt64) throws {
    var random = SplitMix(seed)
    let words = [
      "Paris", "Pariş", "par", "Saint", "São", "Étienne", "York", "new", "Łódź", "Москва", "москве", "東京", "-",
      "l'Aquila",
    ]
    func name() -> String? {
      random.chance(0.05)
        ? nil
        : (0..<1 + random.below(3)).map { _ in words[random.below(words.count)] }.joined(
          separator: random.chance(0.5) ? " " : "-")
    }
    var names = (0..<3000).map { _ in name() }
    var store = FeatureStore()
    var batch = FeatureBatch()
    for (id, name) in names.enumerated() {
      batch.begin(id: id)
      if let name { batch.set(column: batch.column(named: "name"), .string(name)) }
    }
    try store.append(batch)
    for round in 0..<4 {
      let snapshot = store
      let query = try #require(
        NameQuery(Self.typo(words[random.below(12)] + (random.chance(0.3) ? " York" : ""), &random)))
      let found = try store.names(matching: query, in: 0, atLeast: 0) { _ in }
      let scores = Dictionary(uniqueKeysWithValues: found.map { (Int($0.row), $0.score) })
      for (row, name) in names.enumerated() {
        #expect(scores[row] == Self.score(name, query), "\(name ?? "") \(round)")
      }
      // An index of a copy is not that of the other, whichever is asked first.
      for _ in 0..<40 {
        let id = random.below(names.count)
        names[id] = name()
        var edit = FeatureEdit(id: id)
        edit.attributes = [("name", names[id].map { .string($0) } ?? .null)]
        try store.update([edit])
      }
      #expect(try Set(snapshot.names(matching: query, in: 0, atLeast: 0) { _ in }) == Set(found))
    }
  }

  private static func typo(_ text: String, _ random: inout SplitMix) -> String {
    var letters = Array(text)
    if random.chance(0.5), letters.count > 1 { letters.remove(at: random.below(letters.count)) }
    if random.chance(0.5), letters.count > 1 { letters.swapAt(0, 1) }
    return String(letters)
  }

  private static func score(_ name: String?, _ query: NameQuery) -> Int? {
    let bytes = NameText.folded(name ?? "")
    guard !bytes.isEmpty else { return nil }
    if bytes == query.bytes { return 100 }
    if bytes.starts(with: query.bytes) { return 90 }
    if bytes.indices.contains(where: { $0 > 0 && bytes[$0 - 1] == 0x20 && bytes[$0...].starts(with: query.bytes) }) {
      return 80
    }
    var least: Int?
    let (own, wanted) = (bytes.split(separator: 0x20), query.bytes.split(separator: 0x20))
    if wanted.count > 1 {
      var rest = own
      let hasAll = wanted.sorted { $0.count > $1.count }.allSatisfy { word in
        rest.firstIndex { $0.starts(with: word) }.map { rest.remove(at: $0) } != nil
      }
      if hasAll { return 80 }
      if own.allSatisfy(wanted.contains) { least = 70 }
    }
    let letters = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.value))
    let edits = distance(letters, query.letters)
    guard edits <= query.maximumEdits else { return least }
    return max(least ?? 0, 79 - 79 * edits / max(letters.count, query.letters.count))
  }

  /// Every cell of the table.
  private static func distance(_ left: [UInt32], _ right: [UInt32]) -> Int {
    var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
    for i in 0...left.count { table[i][0] = i }
    for j in 0...right.count { table[0][j] = j }
    for i in 1..<left.count + 1 {
      for j in 1..<right.count + 1 {
        table[i][j] = min(
          table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1))
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
        }
      }
    }
    return table[left.count][right.count]
  }

  @Test func `names are compared without case, accents and punctuation`() {
    func folded(_ text: String) -> String { String(decoding: NameText.folded(text), as: UTF8.self) }
    #expect(folded("  Saint-Étienne ") == "saint etienne")
    #expect(folded("L'Aquila (AQ)") == "l aquila aq")
    #expect(folded("...") == "")
    #expect(folded("МОСКВА") == "москва")
    #expect(folded("Łódź, Tromsø, DIYARBAKIR, Diyarbakır, Straße, Ísafjörður, ÆØÅ") == folded("lodz TROMSO diyarbakir diyarbakir STRASSE isafjordur aeoa"))
    #expect(folded(String(repeating: "é東", count: 400)).utf8.count <= NameText.limit)
    #expect(NameQuery("--") == nil)
  }
}
