// The program of `make fuzz`: libFuzzer's main calls these. GEOMODEL_FUZZ_TARGET names the target; its seeds and words are written to
// GEOMODEL_FUZZ_FOLDER.

import Foundation

private let environment = ProcessInfo.processInfo.environment
private let target = FuzzTarget.all.first { $0.name == environment["GEOMODEL_FUZZ_TARGET"] }

private func end(_ reason: String) -> Never {
  FileHandle.standardError.write(Data("\n\(reason)\n".utf8))
  abort()
}

/// Called once, before libFuzzer reads its arguments.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
  guard let target else { end("GEOMODEL_FUZZ_TARGET is one of \(FuzzTarget.all.map { $0.name })") }
  guard let path = environment["GEOMODEL_FUZZ_FOLDER"] else { return 0 }
  let folder = URL(filePath: path)
  do {
    let seeds = folder.appending(path: "seeds")
    try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
    for (index, seed) in try (target.seeds() + Seeds.found(by: target.name)).enumerated() {
      try Data(seed).write(to: seeds.appending(path: "\(index)"))
    }
    try Data((["# Words of \(target.name)"] + target.words.map(entry)).joined(separator: "\n").utf8).write(
      to: folder.appending(path: "words"))
  } catch { end("\(error)") }
  return 0
}

/// A line of a dictionary.
private func entry(_ word: String) -> String {
  "\"" + word.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
}

@_cdecl("LLVMFuzzerTestOneInput")
public func readOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do throws(Broken) { try target?.run(UnsafeRawBufferPointer(start: start, count: count)) } catch { end("\(error)") }
  return 0
}

@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int) -> Int

/// Called for a variation of an input, in place.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
  let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: limit)
  guard target?.isJSON == true, seed % 4 != 0,
    let text = JSONMutation.variation(of: UnsafeRawBufferPointer(rebasing: buffer[..<count]), seed), text.count <= limit
  else { return mutateBytes(bytes, count, limit) }
  buffer.copyBytes(from: text)
  return text.count
}
