// The painter role of the process: confines itself, then paints pictures that the server sends as lists.

import CReader
import Painter
import Pictures
import Platform
import Reading

/// A process that paints and opens nothing but fonts. It ends when its channel closes.
public enum PainterProcess {
  /// Serves requests at a descriptor until the other end is gone.
  ///
  /// - Parameter memory: limit of the address space in bytes.
  public static func serve(at descriptor: CInt, memory: UInt64) -> Never {
    let channel = Channel(descriptor: descriptor)
    // What it makes leaves it as a file in memory.
    _ = creader_confine(memory, memory, 0, 0)
    // Those of a bundle are for machines without fonts, or without settings of them.
    if let folder = ReaderProcess.bundledFolder { setenv("FONTCONFIG_FILE", folder + "/fonts/fonts.conf", 0) }
    // Before the restriction: libraries and settings of fonts may be in folders that a confined process cannot open. Fonts themselves
    // are opened when they are needed.
    let folders = (try? Painter.loadFonts()) ?? []
    _ = ReaderProcess.restrict(to: [], folders)
    startThread {
      channel.awaitEnd()
      _exit(0)
    }
    do {
      var painter: Painter?
      while true {
        let message = try channel.receive()
        let request = try message.document.read { json throws in try ReaderRequest(from: json) }
        do throws(PaintFault) {
          let ready: Painter
          if let painter { ready = painter } else { ready = try Painter() }
          painter = ready
          let (reply, file) = try answer(request, message.files.first, ready)
          try? ReaderProcess.reply(reply, channel, files: [file])
          close(file)
        } catch {
          switch error {
          case .unavailable(let reason): try ReaderProcess.reply(.failed(.unavailable(reason: reason)), channel)
          case .failed(let reason): try ReaderProcess.reply(.refused(operation: "paint", reason: reason), channel)
          }
        }
      }
    } catch {
      _exit(0)
    }
  }

  private static func answer(
    _ request: ReaderRequest, _ file: CInt?, _ painter: Painter
  ) throws(PaintFault) -> (ReaderReply, CInt) {
    // A list of nothing has no bytes, and a file of none is not mapped.
    let words = file.flatMap(SharedMemory.map)
    defer { if let words { SharedMemory.unmap(words) } }
    let list = words ?? UnsafeRawBufferPointer(start: nil, count: 0)
    let made = creader_memory_file()
    guard made >= 0 else { throw .failed(reason: "shared memory: \(errorText())") }
    do throws(PaintFault) {
      let reply: ReaderReply
      switch request {
      case .paint(let job): reply = .painted(try painter.paint(job, list) { writeAll($0, to: made) })
      case .measure:
        let sizes = try painter.measure(list).flatMap { [$0.width, $0.height, $0.ascent] }
        guard sizes.withUnsafeBytes({ writeAll($0, to: made) }) else { throw .failed(reason: "shared memory: \(errorText())") }
        reply = .measured
      default: _exit(1)
      }
      guard SharedMemory.seal(made) else { throw .failed(reason: "shared memory: \(errorText())") }
      return (reply, made)
    } catch {
      close(made)
      throw error
    }
  }
}
