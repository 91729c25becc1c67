// Follows the files that sources want, and passes what they say on to the world.

import Files
import GeoModel
import Handlers
import JSON
import JSONRPC
import Platform
import Reading
import Readers
import WireCoding

/// A file that is followed, or about to be.
final class FollowedFile {
  let file: FeedFile
  var feed: Feed?

  init(_ file: FeedFile) { self.file = file }
}

extension Host {
  /// Begins to follow the files that sources want, and ends others. Runs after each change.
  func matchFeeds() {
    let wanted = world.wantedFeeds
    guard !wanted.isEmpty || !followed.isEmpty else { return }
    for (object, old) in followed where wanted[object] != old.file {
      old.feed?.end()
      followed[object] = nil
    }
    for (object, file) in wanted where followed[object] == nil { follow(file, for: object) }
  }

  func endFeeds() {
    for old in followed.values { old.feed?.end() }
    followed = [:]
  }

  private func follow(_ file: FeedFile, for object: ObjectReference) {
    let entry = FollowedFile(file)
    followed[object] = entry
    let bound = LoopBound((host: self, entry: entry), on: loop)
    let (loop, readers, policy) = (loop, configuration.readers, files.policy)
    let job = FeedJob(
      format: object.collection == .entitySources ? .ndjson : .nmea, follows: file.follows, skipsOld: file.skipsOld)
    // Opening may wait for a disk.
    loop.offload(to: .waiting(.userInitiated)) {
      let opened = Result { () throws(ReadError) in
        try readers.feeds.follow(file.path, job, policy) { event in
          loop.execute { bound.value.host.take(event, of: object, bound.value.entry) }
        }
      }
      loop.execute { bound.value.host.opened(opened, of: object, bound.value.entry) }
    }
  }

  private func isCurrent(_ entry: FollowedFile, of object: ObjectReference) -> Bool { followed[object] === entry }

  private func opened(_ result: Result<Feed, ReadError>, of object: ObjectReference, _ entry: FollowedFile) {
    guard isCurrent(entry, of: object) else {
      if case .success(let feed) = result { feed.end() }
      return
    }
    switch result {
    case .success(let feed):
      entry.feed = feed
      live { $0.feedOpened(of: object) }
    case .failure(let error): live { $0.feedEnded(of: object, RPCError(error).failure) }
    }
  }

  private func take(_ event: Feeds.Event, of object: ObjectReference, _ entry: FollowedFile) {
    guard isCurrent(entry, of: object) else { return }
    switch event {
    case .chunk(let document, let bad):
      live { world in
        var lost: [String: Int] = [:]
        if bad.tooLong > 0 { lost["tooLong"] = bad.tooLong }
        if bad.malformed > 0 { lost["malformed"] = bad.malformed }
        document.read { json in
          if object.collection == .entitySources {
            let refused = EntityService.receive(json["features"], of: EntitySourceID(object.id), in: &world)
            if refused > 0 { lost["malformed", default: 0] += refused }
          } else if let text = try? json["text"].string() {
            _ = try? world.pushNMEA(text, to: LocationSourceID(object.id))
          }
        }
        if !lost.isEmpty { world.feedLost(lines: lost, of: object) }
      }
      entry.feed?.taken()
    case .ended: live { $0.feedEnded(of: object, nil) }
    case .failed(let error): live { $0.feedEnded(of: object, RPCError(error).failure) }
    }
  }

  /// Changes live data, at the present time.
  private func live(_ body: (inout World) -> Void) {
    passBeforeInput()
    turn {
      world.realTime = now
      perform(.location, canWait: true) { world in
        if world.clock.mode == .real { world.skipTicks(to: world.clock.time(at: world.realTime)) }
        body(&world)
      }
    }
  }
}
