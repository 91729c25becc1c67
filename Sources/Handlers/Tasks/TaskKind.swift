// Kinds of tasks: which tasks exclude, supersede or wait for each other.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC

/// The kind of a task, as far as it determines how the task is run.
package enum TaskKind: Hashable, Sendable {
  case openSource
  /// Loads a layer. All requests for it share one attempt.
  case load(LayerID)
  /// Opens a document. Supersedes an opening in progress.
  case openDocument
  case saveDocument
  /// Ends with a change of the model.
  case edit
  /// Opens a raster and ends with a change of the model.
  case openRaster
  /// Writes what sources receive, until it is stopped.
  case record
  /// Reads values of open rasters.
  case readRaster

  /// Whether it belongs to the open document, so that it is pointless while another one is being opened.
  package var needsDocument: Bool {
    switch self {
    case .openDocument, .readRaster, .record: false
    case .openSource, .load, .saveDocument, .edit, .openRaster: true
    }
  }

  /// Whether it changes the model, or the document's file: not for clients that only read.
  package var changesModel: Bool {
    switch self {
    case .readRaster, .record: false
    case .openSource, .load, .openDocument, .saveDocument, .edit, .openRaster: true
    }
  }

  /// Whether its parsers leave much free memory in the allocator: ten times the size of the file for KML.
  package var readsFile: Bool {
    switch self {
    case .saveDocument, .readRaster, .record: false
    case .openSource, .load, .openDocument, .edit, .openRaster: true
    }
  }

  /// The lane of the loop that runs its work.
  ///
  /// - Parameter priority: the priority in the request.
  package func lane(_ priority: WorkPriority?) -> LoopLane {
    switch self {
    // In the order of the requests, and without waiting for other work.
    case .saveDocument: .saving
    // Commands wait for it, so its default priority is higher.
    case .openDocument: .work(priority ?? .userInitiated)
    case .edit: .work(priority ?? .utility)
    // Most of the work is the reader's; this side mainly waits.
    case .openSource, .load, .openRaster, .readRaster, .record: .waiting(priority ?? .utility)
    }
  }

  package var key: TaskKey? {
    switch self {
    case .load(let layer): .load(layer)
    case .openDocument: .openDocument
    case .openSource, .saveDocument, .edit, .openRaster, .readRaster, .record: nil
    }
  }
}

/// Key of at most one running task. A newer task with the key joins the older one or supersedes it.
package enum TaskKey: Hashable, Sendable {
  /// `meta.task.key` and `meta.task.scope`.
  case client(Text, ObjectReference?)
  case load(LayerID)
  case openDocument
}

/// Work that has to end before a task begins.
package enum Prerequisite: Sendable {
  /// The load of a layer: the load in progress, or else this plan.
  case load(LayerID, Plan<LayerProtocol.LoadResult>)
  /// All saves in progress.
  case saves
}
