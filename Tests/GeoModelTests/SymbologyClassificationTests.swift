// Class breaks from data, and their legends.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Testing

struct SymbologyClassificationTests {
  private func classes(_ numbers: [Double], _ method: ClassificationMethod, _ count: Int) -> [[Double]] {
    Classification(numbers, method, count: count).classes.map { [$0.minValue, $0.maxValue, Double($0.count)] }
  }

  @Test func `equal intervals have the same width`() {
    #expect(classes([0, 1, 2, 10], .equalInterval, 2) == [[0, 5, 3], [5, 10, 1]])
    #expect(classes([0, 5, 10], .equalInterval, 2) == [[0, 5, 2], [5, 10, 1]])
  }

  @Test func `quantiles have the same number`() {
    #expect(classes([4, 3, 2, 1], .quantile, 2) == [[1, 2.5, 2], [2.5, 4, 2]])
    #expect(classes([1, 2, 3, 4, 5], .quantile, 2) == [[1, 3, 3], [3, 5, 2]])
  }

  /// What `mapclassify.Quantiles(numbers, k)` of PySAL 2.10 says (`bins`, `counts`).
  @Test(arguments: [
    (2, [12.2, 325.5], [16, 15]), (3, [10, 24.8, 325.5], [14, 7, 10]), (4, [10, 12.2, 26.15, 325.5], [14, 2, 7, 8]),
    (5, [10, 18.5, 31.4, 325.5], [14, 5, 6, 6]),
    (7, [9.485714285714286, 10, 14.9, 25.45714285714286, 40.21428571428572, 325.5], [5, 9, 4, 4, 4, 5]),
  ])
  func `quantiles equal those of mapclassify`(count: Int, bins: [Double], counts: [Int]) {
    let numbers = [
      10.4, 10, 10, 9.7, 25.8, 71, 53.5, 1.6, 26.5, 9.4, 10, 25.2, 325.5, 7.2, 24.8, 12.2, 12.4, 10, 3.3, 10, 31.4, 10,
      23, 10, 38.5, 5.6, 18.5, 10, 40.9, 63.8, 14.3,
    ]
    let found = classes(numbers, .quantile, count)
    #expect(found.map { Int($0[2]) } == counts)
    for (each, bin) in zip(found, bins) { #expect(abs(each[1] - bin) < 1e-9) }
    #expect(classes([0, 10], .quantile, 4) == [[0, 2.5, 1], [2.5, 5, 0], [5, 7.5, 0], [7.5, 10, 1]])
  }

  @Test func `natural breaks are in the gaps`() {
    #expect(classes([1, 2, 3, 20, 21, 50], .naturalBreaks, 3) == [[1, 3, 3], [3, 21, 2], [21, 50, 1]])
    #expect(classes([5, 5, 5, 5, 9], .naturalBreaks, 2) == [[5, 5, 4], [5, 9, 1]])
    #expect(classes([4, 4], .naturalBreaks, 3) == [[4, 4, 2]])
    #expect(classes([1, 2, 3], .naturalBreaks, 9).count == 3)
    let far = Double.greatestFiniteMagnitude
    #expect(classes([-far, -far / 2, far], .naturalBreaks, 2) == [[-far, -far / 2, 2], [-far / 2, far, 1]])
  }

  /// Sum of squared distances to the mean.
  private static func cost(_ numbers: ArraySlice<Double>) -> Double {
    let mean = numbers.reduce(0, +) / Double(max(numbers.count, 1))
    return numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
  }

  @Test(arguments: UInt64(0)..<200)
  func `no other division of a few numbers has less variance`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var numbers: [Double] = []
    for _ in 0..<Int.random(in: 1...9, using: &random) {
      numbers.append(Double(Int.random(in: 0...30, using: &random)))
    }
    numbers.sort()
    let count = Int.random(in: 1...4, using: &random)
    // Each bit is a possible break.
    var least = Double.infinity
    for cuts in 0..<(1 << (numbers.count - 1)) where cuts.nonzeroBitCount < count {
      var (start, sum) = (0, 0.0)
      for end in 1...numbers.count where end == numbers.count || cuts >> (end - 1) & 1 == 1 {
        sum += Self.cost(numbers[start..<end])
        start = end
      }
      least = min(least, sum)
    }
    var (start, sum) = (0, 0.0)
    for each in Classification(numbers, .naturalBreaks, count: count).classes {
      sum += Self.cost(numbers[start..<start + each.count])
      start += each.count
    }
    #expect(start == numbers.count)
    #expect(abs(sum - least) <= 1e-9 * max(1, least))
  }

  @Test func `natural breaks of very many numbers are near the gaps`() {
    let numbers = (0..<100_000).map { Double($0) + ($0 < 30_000 ? 0 : 1e6) }
    #expect(classes(numbers, .naturalBreaks, 2) == [[0, 29_999, 30_000], [29_999, 1_099_999, 70_000]])
  }

  @Test func `equal numbers stay in one class`() {
    #expect(classes([1, 1, 1, 1, 2], .quantile, 2) == [[1, 1, 4], [1, 2, 1]])
    #expect(classes([1, 1, 1, 1], .quantile, 3) == [[1, 1, 4]])
    #expect(classes([7, 7], .equalInterval, 5) == [[7, 7, 2]])
  }

  @Test func `non-finite numbers are left out, and no numbers make no classes`() {
    #expect(classes([.nan, .infinity, 1, 2], .equalInterval, 1) == [[1, 2, 2]])
    #expect(classes([.nan], .quantile, 3).isEmpty)
    #expect(classes([], .equalInterval, 3).isEmpty)
  }

  @Test func `the whole range of numbers can be divided`() {
    let far = Double.greatestFiniteMagnitude
    #expect(classes([-far, far], .equalInterval, 2) == [[-far, 0, 1], [0, far, 1]])
    #expect(classes([1, 1.nextUp], .equalInterval, 5).map(\.[2]).reduce(0, +) == 2)
  }

  @Test(arguments: UInt64(0)..<200)
  func `the counts of classes equal the counts of drawn symbols`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...60, using: &random)
    let spreads: [Double] = [1, 5, 1e6, 1e-6]
    let spread = spreads[Int.random(in: 0..<4, using: &random)]
    // Few different numbers, so that many are equal.
    var numbers: [Double] = []
    for _ in 0..<count { numbers.append(Double(Int.random(in: -8...8, using: &random)) / 8 * spread) }
    let store = try FeatureStore.of("v", numbers.map(AttributeValue.double))
    for method in ClassificationMethod.allCases {
      let made = Classification(numbers, method, count: Int.random(in: 1...9, using: &random))
      let renderer = try made.renderer(
        for: .field("v"), normalizationField: nil, symbol: marker(1), colors: [.black, .lightGray])
      let bound = BoundRenderer(Renderer(.classBreaks(renderer)), schema: store.schema)
      var counts = [Int](repeating: 0, count: made.classes.count)
      for id in numbers.indices { counts[try #require(bound.index(of: try store.row(id)))] += 1 }
      #expect(counts == made.classes.map(\.count))
      // Interpolated bounds of few different numbers may have none between them, as those of mapclassify.
      #expect(counts.allSatisfy { $0 > 0 } || method != .naturalBreaks)
      #expect(made.classes.first?.minValue == numbers.min() && made.classes.last?.maxValue == numbers.max())
    }
  }

  @Test func `colors are evenly spaced over the classes`() throws {
    let white = Color(red: 255, green: 255, blue: 255)
    let made = Classification([1, 2, 3], .quantile, count: 3)
    func colors(_ given: [Color]) throws -> [String] {
      try made.renderer(for: .field("v"), normalizationField: nil, symbol: marker(8), colors: given).breaks.map {
        guard case .simpleMarker(let marker) = $0.entry.symbol else { return "" }
        return marker.color.text
      }
    }
    #expect(try colors([.black, white]) == ["#000000", "#808080", "#FFFFFF"])
    #expect(try colors([white]) == ["#FFFFFF", "#FFFFFF", "#FFFFFF"])
    #expect(try colors([.black, white, .black]) == ["#000000", "#FFFFFF", "#000000"])
  }

  @Test func `numbers come from a field or an expression, with optional normalization`() throws {
    let store = try FeatureStore.of([["v": 1, "a": 2], ["v": "x", "a": 1], ["v": 3, "a": 0], ["v": 4.5]])
    func numbers(_ source: AttributeSource, by field: String? = nil) -> [Double] {
      Classification.numbers(in: store, of: source, normalizationField: field, isCancelled: { false })
    }
    #expect(numbers(.field("v")) == [1, 3, 4.5])
    #expect(numbers(.field("v"), by: "a") == [0.5])
    #expect(numbers(.expression(try Expression("a * 10"))) == [20, 10, 0])
    #expect(numbers(.field("nothing")) == [])
  }

  // MARK: Legends

  @Test func `a legend has one line per symbol, labelled by its values by default`() throws {
    let unique = Renderer(
      .uniqueValue(
        try UniqueValueRenderer(
          sources: [.field("a"), .field("b")],
          entries: [.init(values: ["x", 1], entry: entry(1)), .init(values: ["y", 2.5], entry: entry(2, "Second"))],
          defaultEntry: entry(3))))
    #expect(unique.legend(by: .neutral).map(\.label) == ["x, 1", "Second", "Other"])
    #expect(unique.legend(by: .neutral).map(\.symbol.size) == [1, 2, 3])
    let breaks = Renderer(
      .classBreaks(
        try ClassBreaksRenderer(
          source: .field("v"),
          breaks: [
            .init(maxValue: 10, entry: entry(1)), .init(maxValue: 20.5, entry: entry(2)),
            .init(minValue: 30, maxValue: 40, entry: entry(3)),
          ])))
    #expect(breaks.legend(by: .neutral).map(\.label) == ["≤ 10", "10 – 20.5", "30 – 40"])
    #expect(Renderer(.simple(entry(1, "All"))).legend(by: .neutral).map(\.label) == ["All"])
  }

  @Test(arguments: classNames)
  func `labels of classes have as many digits as their bounds need`(_ ends: [Double], _ names: [String]) throws {
    let breaks = ends.map { ClassBreaksRenderer.Break(maxValue: $0, entry: entry(1)) }
    let renderer = Renderer(.classBreaks(try ClassBreaksRenderer(source: .field("v"), breaks: breaks)))
    #expect(renderer.legend(by: .neutral).map(\.label.string) == names)
  }
}

private let classNames: [([Double], [String])] = [
  ([33.333_333_333_333_336, 66.666_666_666_666_67, 100], ["≤ 33.3333", "33.3333 – 66.6667", "66.6667 – 100"]),
  ([1_234_567.25, 1_234_567.75, 1e15], ["≤ 1234567", "1234567 – 1234568", "1234568 – 1000000000000000"]),
  ([1.000_000_01, 1.000_000_02], ["≤ 1.00000001", "1.00000001 – 1.00000002"]),
  ([-0.000_123_456_7, 0], ["≤ -0.000123457", "-0.000123457 – 0"]),
]
