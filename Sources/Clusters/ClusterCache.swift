// Caches computed clusters for later queries.

import FeatureStore
import Platform
import Sorting
import Synchronization

/// Clusters by object, filter and settings. For each key one query at a time computes; other queries of the same key wait for it.
///
/// At most ``limit`` entries are kept; the least recently used one is dropped first.
public final class ClusterCache: Sendable {
  /// Identifies clusters: an object, and how it is filtered and clustered.
  public struct Key: Hashable, Sendable {
    let object: String
    let settings: ClusterSettings
    let plane: ClusterPlane
    let filter: String

    public init(object: String, settings: ClusterSettings, plane: ClusterPlane, filter: String) {
      (self.object, self.settings, self.plane, self.filter) = (object, settings, plane, filter)
    }
  }

  private final class Entry: Sendable {
    let features = Mutex<ClusteredFeatures?>(nil)
  }

  private struct Entries {
    var all: [Key: (entry: Entry, use: Int)] = [:]
    var uses = 0
  }

  public static let limit = 8
  private let entries = Mutex(Entries())

  public init() {}

  /// Drops the clusters of a closed object.
  public func forget(_ object: @autoclosure () -> String) {
    entries.withLock { entries in
      guard !entries.all.isEmpty else { return }
      let object = object()
      for key in entries.all.keys where key.object == object { entries.all[key] = nil }
    }
  }

  public func removeAll() { entries.withLock { $0.all = [:] } }

  /// The objects with cached clusters.
  var objects: Set<String> { entries.withLock { Set($0.all.keys.map(\.object)) } }

  private func entry(_ key: Key) -> Entry {
    entries.withLock { entries in
      entries.uses += 1
      let entry = entries.all[key]?.entry ?? Entry()
      // An object has one entry: a new radius or filter replaces the previous one.
      if entries.all[key] == nil {
        for other in entries.all.keys where other.object == key.object { entries.all[other] = nil }
      }
      entries.all[key] = (entry, entries.uses)
      if entries.all.count > Self.limit, let oldest = entries.all.min(by: { $0.value.use < $1.value.use })?.key {
        entries.all[oldest] = nil
      }
      return entry
    }
  }

  /// The clusters of a store if they are cached and up to date. Waits for no query that computes.
  public func current(_ key: Key, of store: FeatureStore) -> ClusteredFeatures? {
    let entry = entries.withLock { entries -> Entry? in
      entries.uses += 1
      entries.all[key]?.use = entries.uses
      return entries.all[key]?.entry
    }
    return entry?.features.withLockIfAvailable { $0?.isCurrent(for: store) == true ? $0 : nil } ?? nil
  }

  /// The clusters of a store: the cached ones, brought up to date, or new ones.
  ///
  /// - Parameter check: called every few milliseconds.
  public func features(
    _ key: Key, of store: FeatureStore, shown: ClusteredFeatures.Shown, checking check: CancellationCheck
  ) throws -> ClusteredFeatures {
    let entry = entry(key)
    return try waitUntilFree(checking: { try check(0) }) {
      try entry.features.withLockIfAvailable { features -> ClusteredFeatures in
        // Taken out of the entry, so that the value is uniquely referenced and changed in place.
        var known = features.take()
        if known?.isCurrent(for: store) == false {
          let isUsable = try known?.follow(store, shown: shown, checking: check) ?? false
          if !isUsable { known = nil }
        }
        let made = try known ?? ClusteredFeatures(store, key.plane, key.settings, shown: shown, checking: check)
        features = made
        return made
      }
    }
  }
}
