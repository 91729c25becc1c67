// A session on standard input and output.

import Dispatch
import Logging
import NIOCore
import NIOPosix
import Platform

public enum StdioServer {
  /// Serves one session on this thread, and ends the process with its exit code.
  ///
  /// - Parameters:
  ///   - trace: a file for the traffic.
  ///   - watchesClient: whether it ends with the client's process; that of a trace is another one.
  ///   - atEnd: called once before the process ends, unless it is killed; other threads may still run.
  ///   - makeSession: called once on the loop, which is this thread. A closure in `main.swift` would be isolated to the
  ///     main actor; pass a function.
  public static func run(
    logger: Logger, trace: TraceFile? = nil, waitingLimit: Int, watchesClient: Bool = true,
    atEnd: @escaping @Sendable () -> Void = {},
    makeSession: @escaping @Sendable (any Loop, TrafficRecorder?) -> Session
  ) -> Never {
    let streams: StandardStreams
    do {
      streams = try StandardStreams.take()
    } catch {
      logger.critical("standard streams cannot be used: \(error)")
      _exit(1)
    }
    installSignals {
      atEnd()
      streams.giveBack()
      trace?.close()
      return true
    }
    MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { eventLoop in
      let loop = NIOLoop(eventLoop, waitingLimit: waitingLimit)
      let session = makeSession(loop, trace?.record)
      let bound = LoopBound(session, on: session.loop)
      let transport = PipeTransport(
        session: session, input: streams.input, output: streams.output, isWorking: { loop.isWorking }
      ) { code in
        // In a later turn, after NIO has closed the channel: the output pump then sees the end of its input.
        eventLoop.execute {
          atEnd()
          leave(code, streams, trace, logger)
        }
      }
      session.onClientProcess = { [loop = session.loop] process in
        guard watchesClient else { return }
        watchProcess(process) {
          logger.error("the client's process \(process) is not there: the server ends")
          loop.execute { bound.value.end(.atOnce(code: 1)) }
        }
      }
      // Behind input: a client may close both streams directly after sending `exit`.
      streams.watchReader { [loop = session.loop] in
        loop.executeBehindInput { bound.value.end(.atOnce(code: 1)) }
      }
      open(streams, transport, eventLoop, logger)
    }
    _exit(0)
  }

  private static func open(
    _ streams: StandardStreams, _ transport: PipeTransport, _ eventLoop: any EventLoop, _ logger: Logger
  ) {
    NIOPipeBootstrap(group: eventLoop, handler: NIOLoopBound(transport, eventLoop: eventLoop))
      .takingOwnershipOfDescriptors(input: streams.input, output: streams.output)
      .whenFailure { error in
        logger.critical("standard streams cannot be used: \(error)")
        leave(1, streams, nil, logger)
      }
  }

  /// Ends the process, on the loop. `_exit`, because other threads may be inside a C library.
  private static func leave(_ code: Int32, _ streams: StandardStreams, _ trace: TraceFile?, _ logger: Logger) {
    _ = streams.pumped?.wait(timeout: .now() + 5)
    streams.giveBack()
    trace?.close()
    // Incomplete input or output makes the exit status a failure.
    if let failure = streams.failure { logger.critical("\(failure)") }
    _exit(code == 0 && streams.failure != nil ? 1 : code)
  }
}
