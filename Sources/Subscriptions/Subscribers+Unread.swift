// Slow clients: which replies wait for unsent deltas, and when deltas are replaced by a snapshot.

extension Subscribers {
  /// Value of ``clock`` at the oldest change that has to be sent before a reply that states its revision; nil for none.
  ///
  /// Rate-limited subscriptions, ones that wait for an edit's end and unannounced ones hold back no reply.
  package var oldestUnsent: Int? {
    var oldest: Int?
    for number in dirty {
      guard let entry = entries[number], entry.isAnnounced, entry.subscriber.maxRate == nil,
        let time = entry.deliveringSince ?? (isEditing && entry.subscriber.defersEdits ? nil : entry.recordedAt)
      else { continue }
      oldest = min(oldest ?? time, time)
    }
    return oldest
  }

  /// Discards recorded changes because the client does not read: memory stays proportional to the state, not to time.
  ///
  /// - Returns: whether any subscription has discarded deltas.
  package mutating func discardRecorded() -> Bool {
    let before = resyncs
    for number in dirty {
      guard let entry = entries[number], entry.subscriber.isDirty, entry.subscriber.discardRecorded() else { continue }
      resyncs += 1
      entry.recordedAt = nil
    }
    return resyncs > before
  }
}
