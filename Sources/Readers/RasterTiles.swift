// Tiles of rasters that are kept for later questions, of all rasters together.

import Platform
import Reading
import Synchronization

/// What is kept of a raster.
public protocol KeptTile: Sendable {
  var byteCount: Int { get }
}

extension RasterHeights: KeptTile {}

/// Tiles of heights or pixels, of which the least recently used go first.
public final class RasterTiles<Tile: KeptTile>: Sendable {
  /// Bytes of all tiles together.
  public static var limit: Int { 64 << 20 }

  private struct Key: Hashable {
    let raster: Int
    let tile: Int
  }

  private struct State {
    var tiles: [Key: (tile: Tile, used: Int)] = [:]
    var bytes = 0
    /// Number of uses so far, and of rasters.
    var uses = 0
    var rasters = 0
  }

  private let state = Mutex(State())

  public init() {}

  /// A number for the tiles of one raster.
  public func makeRaster() -> Int {
    state.withLock { state in
      state.rasters += 1
      return state.rasters
    }
  }

  public subscript(raster: Int, tile: Int) -> Tile? {
    state.withLock { state in
      state.uses += 1
      state.tiles[Key(raster: raster, tile: tile)]?.used = state.uses
      return state.tiles[Key(raster: raster, tile: tile)]?.tile
    }
  }

  public func keep(_ kept: Tile, raster: Int, tile: Int) {
    state.withLock { state in
      state.uses += 1
      state.bytes += kept.byteCount
      let old = state.tiles.updateValue((kept, state.uses), forKey: Key(raster: raster, tile: tile))
      state.bytes -= old?.tile.byteCount ?? 0
      while state.bytes > Self.limit, let oldest = state.tiles.min(by: { $0.value.used < $1.value.used }) {
        state.tiles[oldest.key] = nil
        state.bytes -= oldest.value.tile.byteCount
      }
    }
  }

  public func forget(raster: Int) {
    state.withLock { state in
      for (key, tile) in state.tiles where key.raster == raster {
        state.tiles[key] = nil
        state.bytes -= tile.tile.byteCount
      }
    }
  }
}

/// Lets one call at a time read a file.
package final class ReadingTurn: Sendable {
  private let reading = Mutex<Void>(())

  package init() {}

  /// Reads when no other call does.
  package func taken<Value: Sendable>(
    _ isCancelled: () -> Bool, by body: () throws(ReadError) -> Value
  ) throws(ReadError) -> Value {
    try waitUntilFree(checking: { () throws(ReadError) in if isCancelled() { throw .cancelled } }) { () throws(ReadError) -> Value? in
      let outcome = reading.withLockIfAvailable { _ in Result { () throws(ReadError) in try body() } }
      return try outcome?.get()
    }
  }
}
