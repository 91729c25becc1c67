// How far a question is over all its parts, and whether its answer is still wanted.

/// A part of the work for a question: who does it, and which share of the whole it is.
///
/// On the loop there is no worker, nobody to tell and no cancel.
struct WorkShare: Sendable {
  let worker: Worker?
  private let start: Double
  private let end: Double

  /// All of the work.
  init(_ worker: Worker?) { self.init(worker, 0, 1) }

  private init(_ worker: Worker?, _ start: Double, _ end: Double) {
    (self.worker, self.start, self.end) = (worker, start, end)
  }

  /// Parts of this one that follow one another, by what each costs.
  func divided(by costs: Int...) -> [WorkShare] {
    let total = Double(max(costs.reduce(0, +), 1))
    var next = start
    return costs.map { cost in
      let first = next
      next = min(end, next + (end - start) * Double(cost) / total)
      return WorkShare(worker, first, next)
    }
  }

  /// Ends the work when nobody wants it any more, else says how far it is. To be called at least every 10 ms.
  ///
  /// - Parameter fraction: what is done of this part, in 0...1.
  func check(_ fraction: Double) throws {
    guard let worker else { return }
    try worker.checkCancelled()
    worker.report(start + (end - start) * fraction)
  }

  /// The same where `done` of `count` are.
  func check(_ done: Int, of count: Int) throws { try check(Double(done) / Double(max(count, 1))) }
}
