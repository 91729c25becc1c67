// The table of members of jobs.

extension Job {
  public static let members: [Member<Job>] = [
    Member(.owner) { $0.owner?.id },
    Member(.method) { $0.method },
    Member(.params) { $0.params },
    Member(.status) { $0.status },
    Member(.progress) { $0.progress.fraction },
    Member(.done) { $0.progress.done },
    Member(.total) { $0.progress.total },
    Member(.messages) { Value.array($0.messages.map(\.value)) },
  ]
}

extension JobStatus: MemberReadable {
  public var memberValue: MemberValue { .jobStatus(self) }
}

extension JobMessage {
  fileprivate var value: Value { .object(["time": .string(time), "text": .string(text)]) }
}
