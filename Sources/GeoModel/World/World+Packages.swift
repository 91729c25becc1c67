// Objects of another world that come into this one.

extension World {
  /// Numbers that are left for objects which this world makes until ``add(_:)``.
  private static let numberGap = 1 << 24

  /// An empty world for objects that are to be added to this one.
  public func beside() -> World {
    var world = World(transformer: transformer, geodesy: geodesy, timeZones: timeZones, now: realTime)
    world.skipNumbers(of: self)
    world.skipNumbers(Self.numberGap)
    return world
  }

  /// Adds sources and maps with their layers, which were made in a world ``beside()`` this one.
  ///
  /// - Throws: `idExists` for an id that has been given meanwhile.
  public mutating func add(_ other: World) throws(ModelError) {
    for id in other.sources.ids { try checkFree(id) }
    for id in other.maps.ids { try checkFree(id) }
    for id in other.layers.ids { try checkFree(id) }
    guard other.comesAfter(self) else { throw .contentModified(revision: revision) }
    skipNumbers(of: other)
    insertAll(Source.self, of: other)
    insertAll(Map.self, of: other)
    insertAll(Layer.self, of: other)
  }

  private mutating func insertAll<E: Entity>(_ kind: E.Type, of other: World) {
    for element in other[keyPath: E.registry].values {
      reclaim(element.id.rawValue)
      insert(element)
    }
  }
}

extension World {
  /// This world without jobs, which belong to this machine; and with one map alone and what the map needs, unless nil.
  ///
  /// - Parameter leftOut: layers that are removed from the map.
  public func holding(_ map: MapID?, without leftOut: [LayerID]) -> World {
    var world = self
    world.begin(origin: .task)
    defer { world.discardChanges() }
    world.closeAll(Job.self)
    guard let map else { return world }
    for collection in Collection.allCases {
      switch collection {
      case .maps, .layers, .sources, .environmentKeys, .environments, .viewModelTypes: continue
      default: world.closeAll(collection.kind)
      }
    }
    for id in world.maps.ids where id != map { try? Map.close(id, in: &world) }
    for id in leftOut { try? world.removeLayer(id) }
    let used = Set(world.layers.values.compactMap(\.features?.sourceNumber))
    for source in world.sources.values where !used.contains(source.number) { try? Source.close(source.id, in: &world) }
    return world
  }

  private mutating func closeAll<E: Entity>(_ kind: E.Type) {
    for id in self[keyPath: E.registry].ids { try? E.close(id, in: &self) }
  }
}
