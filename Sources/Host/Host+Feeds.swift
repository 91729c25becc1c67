// Follows the files that sources want, and passes what they say on to the world, and to a trace.

import Files
import GeoModel
import GeoProtocol
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
  /// Whether it is not known yet whether it can be opened.
  var isOpening = true
  /// What it has said and is not taken yet.
  var events: [Feeds.Event] = []

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
    // The trace says what it had.
    guard !configuration.isReplay else { return }
    let bound = LoopBound((host: self, entry: entry), on: loop)
    let (loop, readers, policy) = (loop, configuration.readers, files.policy)
    let job = FeedJob(
      format: object.collection == .entitySources ? .ndjson : .nmea, follows: file.follows,
      skipsOld: file.skipsOld && file.attempt == 1)
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
    entry.isOpening = false
    switch result {
    case .success(let feed): entry.feed = feed
    case .failure(let error): entry.events = [.failed(error)]
    }
    takeEvents(of: object, entry)
  }

  private func take(_ event: Feeds.Event, of object: ObjectReference, _ entry: FollowedFile) {
    entry.events.append(event)
    if entry.events.count == 1 { takeEvents(of: object, entry) }
  }

  /// Takes what has come, unless an advance of the clock or judgements are under way, behind which it comes as other input does, or a trace cannot
  /// have it now.
  private func takeEvents(of object: ObjectReference, _ entry: FollowedFile) {
    guard !entry.isOpening else { return }
    while isCurrent(entry, of: object), let event = entry.events.first {
      guard world.advance == nil, !isInputHeld, !putsStepsOff else {
        let bound = LoopBound((host: self, entry: entry), on: loop)
        loop.schedule(after: 10_000_000) { bound.value.host.takeEvents(of: object, bound.value.entry) }
        return
      }
      entry.events.removeFirst()
      passBeforeInput()
      switch event {
      case .opened: take(.opened, of: object)
      case .ended: take(.ended(nil), of: object)
      case .failed(let error): take(.ended(Wire.failure(RPCError(error).failure)), of: object)
      case .chunk(let document, let bad):
        document.read { json in
          take(
            .chunk(
              .init(
                text: try? json["text"].string(), features: try? json["features"].array { JSONOpaque.parsed($0) },
                tooLong: bad.tooLong > 0 ? bad.tooLong : nil, malformed: bad.malformed > 0 ? bad.malformed : nil)), of: object)
        }
        entry.feed?.taken()
      }
    }
  }

  private func take(_ event: SessionProtocol.FeedEvent, of object: ObjectReference) {
    turn { traceFeed(event, of: object) { receive(event, of: object, canWait: true) } }
  }

  /// Changes live data by what a followed file has said, at the present time.
  func receive(_ event: SessionProtocol.FeedEvent, of object: ObjectReference, canWait: Bool) {
    world.realTime = now
    perform(.location, canWait: canWait) { world in
      if world.clock.mode == .real { world.skipTicks(to: world.clock.time(at: world.realTime)) }
      switch event {
      case .opened: world.feedOpened(of: object)
      case .ended(let error):
        world.feedEnded(
          of: object, error.map { Failure(kind: $0.kind, message: $0.message, path: $0.path, expected: $0.expected) })
      case .chunk(let chunk):
        var lost: [String: Int] = [:]
        lost["tooLong"] = chunk.tooLong
        lost["malformed"] = chunk.malformed
        if object.collection == .entitySources {
          let refused = EntityService.receive(chunk.features ?? [], of: EntitySourceID(object.id), in: &world)
          if refused > 0 { lost["malformed", default: 0] += refused }
        } else if let text = chunk.text {
          _ = try? world.pushNMEA(text, to: LocationSourceID(object.id))
        }
        if !lost.isEmpty { world.feedLost(lines: lost, of: object) }
      }
    }
  }
}
