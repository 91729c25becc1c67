// The unsaved model of a shared server that has to end, for the next server of its name.

import GeoModel
import Handlers
import Readers

package enum RecoveryDocument {
  /// Writes a model to a file that no client names. If it throws, the file is as before.
  package static func write(_ world: World, to path: String, readers: Readers, _ limits: DocumentLimits) throws {
    let files = FilePaths(root: "/", allowedDirectories: [])
    _ = try DocumentWriter.write(
      world, to: path, Worker(files: files, readers: readers, resultBytes: 0, documentLimits: limits) { _ in })
  }
}
