// What tasks are, beyond their work: what at most one of runs at a time, and what has to end before another begins.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC

/// What a task does, as far as it matters to how it is run.
package enum TaskKind: Hashable, Sendable {
  case openSource
  /// One attempt, which all requests for it share.
  case load(LayerID)
  /// Supersedes one that is under way.
  case openDocument
  case saveDocument
  /// Ends with a change of the model.
  case edit
  /// Opens a raster and ends with a change of the model.
  case openRaster
  /// Reads values of open rasters.
  case readRaster

  /// Whether it belongs to the document that is open, and makes no sense while another takes its place.
  package var needsDocument: Bool {
    switch self {
    case .openDocument, .readRaster: false
    case .openSource, .load, .saveDocument, .edit, .openRaster: true
    }
  }

  /// Whether it leaves to the allocator what parsers built: ten times the file, with KML.
  package var readsFile: Bool {
    switch self {
    case .saveDocument, .readRaster: false
    case .openSource, .load, .openDocument, .edit, .openRaster: true
    }
  }

  /// Where it works.
  ///
  /// - Parameter priority: what the request asks for.
  package func lane(_ priority: WorkPriority?) -> LoopLane {
    switch self {
    // In the order of the requests, and held up by nothing else.
    case .saveDocument: .saving
    // Commands wait for it.
    case .openDocument: .work(priority ?? .userInitiated)
    case .edit: .work(priority ?? .utility)
    // Beyond the reader's work there is little to do.
    case .openSource, .load, .openRaster, .readRaster: .waiting(priority ?? .utility)
    }
  }

  package var key: TaskKey? {
    switch self {
    case .load(let layer): .load(layer)
    case .openDocument: .openDocument
    case .openSource, .saveDocument, .edit, .openRaster, .readRaster: nil
    }
  }
}

/// What at most one running task has. A newer task joins the older one or supersedes it.
package enum TaskKey: Hashable, Sendable {
  /// `meta.task.key` and `meta.task.scope`.
  case client(Text, ObjectReference?)
  case load(LayerID)
  case openDocument
}

/// What has to end before a task begins.
package enum Prerequisite: Sendable {
  /// The load of a layer: the one under way, or this.
  case load(LayerID, Plan<LayerProtocol.LoadResult>)
  /// All saves of documents under way.
  case saves
}
