// Engines as processes: their answers are GEOS's, and their ends are errors; and what decides that a relation is theirs.

import Foundation
import Geometry
import GeometryEngine
import Glibc
import Readers
import TestSupport
import Testing

@Suite(.serialized) struct EngineTests {
  /// A line that crosses itself at nearly every pair of its segments.
  private func star(_ count: Int, y: Double = 0) -> Geometry {
    line(count) { number in (50 * cos(number * 2.4), 50 * sin(number * 2.4) + y) }
  }

  private func wave(_ count: Int, y: Double = 0) -> Geometry {
    line(count) { number in (number / 10, sin(number / 10) + y) }
  }

  private func line(_ count: Int, _ position: (Double) -> (Double, Double)) -> Geometry {
    var values: [Double] = []
    for number in 0..<count {
      let (x, y) = position(Double(number))
      values += [x, y]
    }
    return .lineString(Positions(values: values))
  }

  @Test func `smooth lines are cheap, and crossings are not`() {
    let limit = 1e8
    #expect(RelationCost.alone(wave(2_000), limit: limit) < 1e6)
    #expect(RelationCost.between(wave(2_000), wave(2_000, y: 0.1), limit: limit) < 5e6)
    #expect(RelationCost.between(wave(2_000), wave(2_000, y: 10), limit: limit) == 0)
    #expect(RelationCost.alone(star(100), limit: limit) > 5e6)
    // The count ends at the limit.
    let stopped = RelationCost.alone(star(2_000), limit: limit)
    #expect(stopped >= limit && stopped < 4 * limit)
    let circle = line(200_000) { number in (cos(number / 31_831), sin(number / 31_831)) }
    #expect(RelationCost.alone(circle, limit: limit) < 2e7)
  }

  @Test func `places of many parts among many others are not cheap`() {
    func points(_ count: Int) -> Geometry { .multiPoint(Positions((0..<count).map { Point(x: Double($0 % 1_000), y: Double($0 % 999)) })) }
    func lines(_ count: Int) -> Geometry {
      .multiLineString((0..<count).map { number in
        let (x, y) = (Double(number % 100), Double(number))
        return Positions([Point(x: x, y: y), Point(x: x, y: y + 1)])
      })
    }
    let circle = line(10_000) { number in (500 + 400 * cos(number / 1_591), 500 + 400 * sin(number / 1_591)) }
    // GEOS 3.11 took 7 s for the first, 5 s for the second.
    #expect(RelationCost.placing(points(100_000), circle) > 5e9)
    #expect(RelationCost.placing(lines(10_000), lines(10_000)) > 3e9)
    #expect(RelationCost.placing(circle, circle) < 1e6)
    #expect(RelationCost.placing(points(100_000), .point(Point(x: -5, y: 5))) == 0)
  }

  @Test func `on the loop nothing is computed beyond the allowance, and the failure is kept`() throws {
    let allowance = RelationAllowance(nanoseconds: RelationAllowance.onLoop)
    allowance.hold {
      var related = RelatedGeometry(star(100))
      #expect(throws: EngineError.tooExpensive) { _ = try related.relates(.crosses, star(100, y: 0.3)) }
      var small = RelatedGeometry(wave(10))
      #expect(throws: EngineError.tooExpensive) { _ = try small.relates(.crosses, wave(10, y: 0.1)) }
    }
    #expect(allowance.failure == .tooExpensive)
    let again = RelationAllowance(nanoseconds: RelationAllowance.onLoop)
    try again.hold {
      var small = RelatedGeometry(wave(10))
      let done = try RelationAllowance.attempt { try small.relates(.crosses, wave(10, y: 0.1)) }
      #expect(done != nil)
      var large = RelatedGeometry(star(100))
      let refused = try RelationAllowance.attempt { try large.relates(.crosses, star(100, y: 0.3)) }
      #expect(refused == nil)
    }
    #expect(again.failure == nil)
  }

  @Test func `an engine answers as GEOS does here`() throws {
    let engines = Readers(executable: ServerProcess.path).engines
    let shapes = [
      star(20), star(20, y: 0.3), wave(20), .point(Point(x: 1, y: 0)), .point(nil),
      .polygon([Positions(values: [0, 0, 4, 0, 4, 4, 0, 4, 0, 0])]), .polygon([Positions(values: [0, 0, 4, 4, 4, 0, 0, 4, 0, 0])]),
      .collection([wave(5), wave(5, y: 0.2)]),
    ]
    let pattern = try #require(IntersectionPattern("T*T***T**"))
    let relations: [SpatialRelation] = [
      .intersects, .contains, .crosses, .within, .overlaps, .touches, .disjoint, .equals, .relate(pattern),
    ]
    for first in shapes {
      for second in shapes {
        for relation in relations {
          var related = RelatedGeometry(first)
          let here = Result { () throws(EngineError) in try related.relates(relation, second) }
          let there = Result { () throws(EngineError) in
            try engines.relates(relation, of: second, to: first, across: nil, isCancelled: { false })
          }
          #expect(here == there, "\(relation) of \(second) to \(first)")
        }
      }
    }
  }

  @Test func `a cancel ends an engine at once, and the next one answers`() throws {
    let engines = Readers(executable: ServerProcess.path).engines
    var checks = 0
    #expect(throws: EngineError.interrupted) {
      _ = try engines.relates(.crosses, of: star(2_000), to: star(2_000, y: 0.3), across: nil) {
        checks += 1
        return checks > 3
      }
    }
    #expect(try engines.relates(.crosses, of: star(20), to: star(20, y: 0.3), across: nil) { false })
  }

  @Test func `an engine that is killed, or needs more memory than it may use, is an error`() throws {
    let memory: UInt64 = 700_000_123
    let engines = Readers(executable: ServerProcess.path, engineMemory: memory).engines
    var killed = false
    #expect(throws: EngineError.engineFailed(signal: Int(SIGKILL))) {
      _ = try engines.relates(.crosses, of: star(2_000), to: star(2_000, y: 0.3), across: nil) {
        if let process = processes(memory: memory).first, !killed { killed = kill(process, SIGKILL) == 0 }
        return false
      }
    }
    let small = Readers(executable: ServerProcess.path, engineMemory: 250 << 20).engines
    let error = #expect(throws: EngineError.self) {
      _ = try small.relates(.crosses, of: star(2_000), to: star(2_000, y: 0.3), across: nil) { false }
    }
    guard case .engineFailed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
