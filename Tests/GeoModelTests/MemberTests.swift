// The tables of members and the protocol's list of them agree.

import Testing

@testable import GeoModel

struct MemberTests {
  @Test func `every member of the protocol has a line in its table, and can be set where a command sets it`() {
    check(Source.self)
    check(Map.self)
    check(Layer.self)
    check(Scene.self)
    check(View.self)
    check(Overlay.self)
    check(LocationSource.self)
    check(EnvironmentScope.self)
  }

  private func check<Object: Entity>(_: Object.Type) {
    let collection = Object.collection
    for property in Property.allCases {
      let traits = collection.traits(of: property)
      let lines = Object.members.filter { $0.property == property }
      guard !traits.isEmpty else { continue }
      #expect(lines.count == 1, "\(property) of \(collection)")
      #expect(lines.allSatisfy { $0.isSettable == traits.contains(.settable) }, "\(property) of \(collection)")
    }
  }
}
