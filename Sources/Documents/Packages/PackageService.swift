// Handlers of `package/*`.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import JSONRPC
import Planning
import WireCoding

package enum PackageService: PackageHandlers {
  package static func describe(_ params: Describe.Params, in world: inout World) throws -> Plan<Describe.Result> {
    let now = world.clock.now
    return TaskPlan { worker in
      let package = try PackageFile(params.path, worker)
      let index = try package.index().index
      return .init(path: package.path, bytes: package.size, isExpired: index.isExpired(at: now), index: index)
    }
  }

  package static func open(_ params: Open.Params, in world: inout World) throws -> Plan<Open.Result> {
    let now = world.clock.now
    let check = { @Sendable (worker: Worker) throws -> (PackageFile, PackageFile.Index) in
      let package = try PackageFile(params.path, worker)
      let index = try package.index().index
      if let expires = index.expires, index.isExpired(at: now), !params.allowExpired {
        throw RPCError(
          .packageExpired, "\(package.path) has expired.", path: package.path, expected: "allowExpired: true"
        ).with("expires", expires)
      }
      try package.verify()
      return (package, index)
    }
    return params.map.map { add($0, to: world, check) } ?? replace(world, check)
  }

  package static func export(_ params: Export.Params, in world: inout World) throws -> Plan<Export.Result> {
    let export = try PackageExport(params, in: world)
    return TaskPlan { worker in try export.run(worker, WorkShare(worker.work)) }
  }

  package static func update(_ params: Update.Params, in world: inout World) throws -> Plan<Export.Result> {
    let snapshot = world
    return TaskPlan { worker in
      let package = try PackageFile(params.path, worker)
      guard let origin = try package.index().origin else { throw package.invalid("it does not say how it was made") }
      return try JSONDocument { origin.node(in: $0) }.read { json in
        let params = try PackageExport.params(json, of: package)
        return try PackageExport(params, in: snapshot).run(worker, WorkShare(worker.work), replacing: package)
      }
    }
  }

  private typealias Check = @Sendable (Worker) throws -> (PackageFile, PackageFile.Index)

  /// Replaces the model by the package.
  private static func replace(_ world: World, _ check: @escaping Check) -> Plan<Open.Result> {
    let fresh = World(
      transformer: world.transformer, geodesy: world.geodesy, timeZones: world.timeZones, now: world.realTime)
    let session = world.emptied()
    return TaskPlan(.openDocument, after: [.saves]) { worker in
      let (package, index) = try check(worker)
      let read = try package.withDocument(index) { try package.read($0, into: fresh) }
      let next = Handover(try DocumentService.opened(read.world, nil, read.unknown, in: session))
      let answer = answer(package, read)
      return { world in
        if let next = next.take() { world.open(next) }
        return answer(world, [:])
      }
    }
  }

  /// Adds a map of the package to the model.
  private static func add(_ map: String, to world: World, _ check: @escaping Check) -> Plan<Open.Result> {
    let fresh = world.beside()
    let snapshot = world
    return TaskPlan(.edit) { worker in
      let (package, index) = try check(worker)
      let found = try package.withDocument(index) { try PackageMapDocument(map, of: $0, in: snapshot) }
      guard let found else {
        throw RPCError(.unknownId, "There is no map \"\(map)\" in \(package.path).", path: "/params/map").with("id", map)
      }
      let read = try JSONDocument { found.value.node(in: $0) }.read { try package.read($0, into: fresh) }
      let answer = answer(package, read)
      return { world in
        try world.add(read.world)
        return answer(world, found.renamed)
      }
    }
  }

  private static func answer(
    _ package: PackageFile, _ read: OpenedDocument
  ) -> @Sendable (World, [String: String]) -> Open.Result {
    let (path, maps, scenes) = (package.path, read.world.ids(of: .maps), read.world.ids(of: .scenes))
    let problems = (first: read.problems.first.map(Wire.failure), count: read.problems.count)
    return { world, renamed in
      .init(
        revision: world.revision, path: path, maps: maps, scenes: scenes, renamed: renamed.isEmpty ? nil : renamed,
        problems: problems.count > 0 ? problems.first : nil, problemCount: problems.count > 0 ? problems.count : nil)
    }
  }
}

extension PackageProtocol.PackageIndex {
  func isExpired(at now: Instant) -> Bool { expires.flatMap { Instant($0) }.map { $0 <= now } ?? false }
}
