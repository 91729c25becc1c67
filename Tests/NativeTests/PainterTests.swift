// Painters as processes: what they paint arrives, and their ends are errors or new beginnings.

import Foundation
import Glibc
import Pictures
import Readers
import TestSupport
import Testing

@Suite(.serialized) struct PainterTests {
  private let job = PictureJob(.png, width: 200, height: 100)

  private func words(_ draw: (inout PictureWriter) -> Void) -> [UInt32] {
    var writer = PictureWriter()
    draw(&writer)
    return writer.words
  }

  private var text: [UInt32] {
    words { picture in
      picture.set(Font(size: 20, color: 0xff))
      picture.text("A text", at: SIMD2(10, 10), Anchor(.left, .top))
    }
  }

  /// Takes minutes.
  private var endless: [UInt32] {
    words { picture in
      picture.set(Stroke(dashes: .shortDot, color: 0xff, width: 30))
      picture.lines([(0..<300_000).map { number in
        SIMD2(100 + 90 * cos(Float(number) * 2.4), 50 + 40 * sin(Float(number) * 1.7))
      }])
    }
  }

  @Test func `a confined painter has fonts, and makes every format`() throws {
    let painters = Readers(executable: ServerProcess.path).painters
    let empty = try painters.paint(job, []) { false }
    for format in PictureFormat.allCases {
      let picture = try painters.paint(PictureJob(format, width: 200, height: 100), text) { false }
      #expect(picture.notes == PaintNotes())
      let head = picture.withBytes { [UInt8]($0.prefix(4)) }
      switch format {
      case .png: #expect(head == [0x89, 0x50, 0x4e, 0x47] && picture.byteCount > empty.byteCount)
      case .svg: #expect(head == Array("<?xm".utf8))
      case .pdf: #expect(head == Array("%PDF".utf8))
      case .items: #expect(picture.byteCount == 80_000)
      }
    }
    let sizes = try painters.measure(text) { false }
    #expect(sizes.count == 1 && sizes.allSatisfy { $0.width > 40 && $0.width < 80 && $0.height > 20 && $0.ascent > 15 })
    #expect(try painters.measure([]) { false } == [])
  }

  @Test(arguments: ["W", "\n"]) func `a text that is wider or higher than any paper is measured and painted`(letter: String) throws {
    let painters = Readers(executable: ServerProcess.path).painters
    let long = words { picture in
      for size in [10, 1000] as [Float] {
        picture.set(Font(size: size, color: 0xff))
        picture.text(String(repeating: letter, count: 300_000), at: SIMD2(10, 10), Anchor(.left, .top))
      }
    }
    let sizes = try painters.measure(long) { false }
    #expect(sizes.count == 2 && sizes.allSatisfy { max($0.width, $0.height) > 1e5 })
    _ = try painters.paint(job, long) { false }
  }

  @Test func `what is not a picture is an error, and the next is painted`() throws {
    let painters = Readers(executable: ServerProcess.path).painters
    let error = #expect(throws: PaintError.self) { _ = try painters.paint(job, [77, 1, 2]) { false } }
    guard case .failed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(throws: PaintError.tooLarge) { _ = try painters.paint(PictureJob(.png, width: 1e5, height: 10), []) { false } }
    #expect(throws: PaintError.tooLarge) { _ = try painters.paint(PictureJob(.pdf, width: .nan, height: 10), []) { false } }
    _ = try painters.paint(job, text) { false }
  }

  @Test func `a cancel ends a painter at once, and the next one paints`() throws {
    let painters = Readers(executable: ServerProcess.path).painters
    var checks = 0
    #expect(throws: PaintError.cancelled) {
      _ = try painters.paint(job, endless) {
        checks += 1
        return checks > 3
      }
    }
    _ = try painters.paint(job, text) { false }
  }

  @Test func `a painter that was killed is begun anew, and one that dies at work is an error`() throws {
    let memory: UInt64 = 1_500_000_321
    let painters = Readers(executable: ServerProcess.path, painterMemory: memory).painters
    let first = try painters.paint(job, text) { false }
    let warm = try #require(processes(memory: memory).first)
    kill(warm, SIGKILL)
    let second = try painters.paint(job, text) { false }
    #expect(first.withBytes { [UInt8]($0) } == second.withBytes { [UInt8]($0) })
    var killed = 0
    #expect(throws: PaintError.processFailed(signal: Int(SIGKILL))) {
      _ = try painters.paint(job, endless) {
        for process in processes(memory: memory) where kill(process, SIGKILL) == 0 { killed += 1 }
        return false
      }
    }
    #expect(killed > 0)
  }

  @Test func `a painter without memory is an error`() throws {
    let painters = Readers(executable: ServerProcess.path, painterMemory: 500 << 20).painters
    let error = #expect(throws: PaintError.self) {
      _ = try painters.paint(PictureJob(.png, width: 16_000, height: 16_000), text) { false }
    }
    switch error {
    case .failed, .processFailed: break
    default: Issue.record("\(String(describing: error))")
    }
    _ = try painters.paint(job, text) { false }
  }
}
