// The context of a task on its worker thread: files, limits, cancellation and progress.

import JSON
import Planning
import Readers

/// Limits of documents. Writers keep to the same limits as readers.
public struct DocumentLimits: Sendable {
  public var bytes = 1 << 30
  /// Maximum number of values: jansson's tree of more would exhaust the memory.
  public var values = 100_000_000
  /// Maximum nesting of arrays and objects.
  public var depth = JSONDocument.maximumDepth

  public init() {}
}

/// The context of a task on its worker thread.
public final class Worker: Sendable {
  /// Cancellation and progress of the task.
  package let work: Work
  /// Converts names of files to paths.
  package let files: FilePaths
  /// Reads foreign files.
  package let readers: Readers
  package let documentLimits: DocumentLimits
  /// Whether texts are measured with the fonts of the machine.
  let hasFonts: Bool
  let labels: LabelMemory

  package init(
    files: FilePaths, readers: Readers, resultBytes: Int, documentLimits: DocumentLimits, hasFonts: Bool = true,
    isAttaching: Bool = false, _ labels: LabelMemory = LabelMemory(),
    onProgress: @escaping @Sendable (Double) -> Void
  ) {
    work = Work(resultBytes: resultBytes, isAttaching: isAttaching, engine: readers.engines, onProgress: onProgress)
    self.files = files
    self.readers = readers
    self.documentLimits = documentLimits
    self.hasFonts = hasFonts
    self.labels = labels
  }

  public var isCancelled: Bool { work.isCancelled }
  public func checkCancelled() throws { try work.checkCancelled() }
}
