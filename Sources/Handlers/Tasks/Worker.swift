// What a task has on its worker thread: files, and a way to say how far it is.

import JSON
import Planning
import Readers

/// How large a document may be: what a reader refuses, no writer writes.
public struct DocumentLimits: Sendable {
  public var bytes = 1 << 30
  /// Jansson's tree of so many takes all the memory there is.
  public var values = 100_000_000
  /// Of arrays and objects in one another.
  public var depth = JSONDocument.maximumDepth

  public init() {}
}

/// What a task has on its worker thread.
public final class Worker: Sendable {
  /// Whether the task is still wanted, and how far it is.
  package let work: Work
  /// How names of files are read.
  package let files: FilePaths
  /// Reads foreign files.
  package let readers: Readers
  package let documentLimits: DocumentLimits

  package init(
    files: FilePaths, readers: Readers, resultBytes: Int, documentLimits: DocumentLimits,
    onProgress: @escaping @Sendable (Double) -> Void
  ) {
    work = Work(resultBytes: resultBytes, engine: readers.engines, onProgress: onProgress)
    self.files = files
    self.readers = readers
    self.documentLimits = documentLimits
  }

  public var isCancelled: Bool { work.isCancelled }
  public func checkCancelled() throws { try work.checkCancelled() }
}
