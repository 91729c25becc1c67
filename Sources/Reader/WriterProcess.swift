// The writer role of the process: confines itself, then fills one file that the server has opened.

import CGDAL
import CReader
import JSON
import Platform
import Reading

/// A process that writes one file and opens none. It ends when its channel closes.
public enum WriterProcess {
  /// Limit of the file written: no layer that fits in memory makes a larger one.
  private static let fileSizeLimit: UInt64 = 1 << 40

  /// Serves one request at a descriptor.
  ///
  /// - Parameter memory: limit of the address space in bytes.
  public static func serve(at descriptor: CInt, memory: UInt64) -> Never {
    let channel = Channel(descriptor: descriptor)
    setEnvironment()
    var protections = creader_confine(memory, fileSizeLimit, 0, 0)
    ReaderProcess.listen(channel)
    do {
      let message = try channel.receive()
      let request = try message.document.read { json throws(JSONError) in try ReaderRequest(from: json) }
      guard case .write(let job) = request, message.files.count == 2 + job.driver.sideExtensions.count else { _exit(1) }
      WrittenFiles.begin(job, message.takeFiles())
      // Loaded before the restriction: libraries may be in folders that a confined writer cannot open.
      _ = WriterLibrary.shared
      protections |= ReaderProcess.restrict(to: [])
      try ReaderProcess.reply(.ready(protections), channel)
      startThread {
        channel.awaitEnd()
        _exit(0)
      }
      var end = ReaderReply.done(residentBytes() ?? 0)
      do throws(ReadError) { try LayerWriter.write(job, channel) } catch { end = .failed(error) }
      try ReaderProcess.reply(end, channel)
      // Takes what is still sent until the server ends the process: it reads the reply only after what it is sending.
      while (try? channel.receive()) != nil {}
      _exit(0)
    } catch {
      _exit(0)
    }
  }

  private static func setEnvironment() {
    ReaderProcess.setEnvironment(false)
    for (name, value) in [
      // An incomplete file is discarded, so nothing needs a rollback or a sync. The triggers of the format itself run.
      ("OGR_SQLITE_JOURNAL", "OFF"), ("OGR_SQLITE_SYNCHRONOUS", "OFF"), ("OGR_SQLITE_PRAGMA", "temp_store=MEMORY"),
      // The threaded index build writes a second file.
      ("OGR_GPKG_ALLOW_THREADED_RTREE", "NO"),
    ] { setenv(name, value, 1) }
  }
}

/// GDAL with the virtual files of a writer, loaded once for the process; or the reason why it is not available.
enum WriterLibrary {
  static let shared = GDALLibrary.load(WrittenFiles.install)
}
