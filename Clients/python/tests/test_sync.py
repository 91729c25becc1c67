"""The blocking client against a fake server."""

import asyncio
import os
import subprocess
import sys
import threading
import time
import unittest
from types import FrameType
from typing import Any

from support import FAKE, TESTS, child_environment

import geomodel


class SyncTests(unittest.TestCase):
    def test_calls_observes_and_closes(self) -> None:
        with geomodel.launch_sync(FAKE) as server:
            self.assertEqual(server.session.echo(value=1), {"value": 1})
            with server.observe("/early") as sub:
                self.assertEqual((sub.state, sub.revision, sub.at("/views/v1/n")), ({"views": {"v1": {"n": 2}}}, 9, 2))
                self.assertEqual([change.revision for change in sub.take_all()], [8, 9])
                with self.assertRaises(geomodel.CallTimeoutError):
                    sub.get(timeout=0.05)
            self.assertEqual(list(sub), [])
            stream = server.notifications("test/notified")
            server.call("test/notify", {"count": 3})
            self.assertEqual([next(stream)["n"] for _ in range(3)], [0, 1, 2])
            with self.assertRaises(geomodel.errors.UnknownIdError):
                server.view.get(view="v9")
        self.assertEqual(server.exit_status, 0)

    def test_received_items_can_be_read_after_the_end(self) -> None:
        with geomodel.launch_sync(FAKE) as server:
            sub, empty = server.observe("/early"), server.notifications("test/notified")
        self.assertEqual((sub.at("/views/v1/n"), sub.state), (2, {"views": {"v1": {"n": 2}}}))
        self.assertEqual((sub.get().revision, [change.revision for change in sub], sub.take_all()), (8, [9], []))
        self.assertEqual((list(empty), empty.take_all()), ([], []))
        sub.close()
        with self.assertRaises(geomodel.ClosedError):
            server.session.echo(value=1)

    def test_inside_a_running_loop(self) -> None:
        async def cell() -> Any:
            with geomodel.launch_sync(FAKE) as server:
                return server.session.echo(value=1)

        self.assertEqual(asyncio.run(cell()), {"value": 1})

    def test_progress_on_the_callers_thread_may_call_back(self) -> None:
        seen: list[Any] = []
        with geomodel.launch_sync(FAKE) as server:

            def report(value: dict[str, Any]) -> None:
                seen.append((value["percentage"], server.session.echo(value=2)["value"]))

            result = server.options(progress=report).call("test/slow", {"seconds": 0.1})
        self.assertEqual((result, seen), ({"slept": True}, [(0, 2), (50, 2), (100, 2)]))

    def test_what_a_progress_callback_raises_the_call_raises(self) -> None:
        def fail(value: dict[str, Any]) -> None:
            raise LookupError("enough")

        with geomodel.launch_sync(FAKE) as server:
            with self.assertRaises(LookupError):
                server.options(progress=fail).call("test/slow")
            self.assertEqual(server.session.echo(value=1), {"value": 1})

    def test_options_keep_what_was_set_before(self) -> None:
        with geomodel.launch_sync(FAKE) as server:
            seen: list[Any] = []
            one = server.options(progress=seen.append, origin="a").options(timeout=5)
            one.call("test/slow", {"seconds": 0.05})
            self.assertTrue(seen)
            self.assertEqual(server.options(origin="a").session.echo(value=1)["meta"], {"origin": "a"})

    def test_death(self) -> None:
        with geomodel.launch_sync(FAKE) as server:
            with self.assertRaises(geomodel.ServerDiedError):
                server.call("test/die")
            with self.assertRaises(geomodel.ServerDiedError):
                server.session.echo(value=1)

    def test_closing_twice_and_using_after(self) -> None:
        server = geomodel.launch_sync(FAKE)
        server.close()
        server.close()
        with self.assertRaises(geomodel.Error):
            server.session.echo(value=1)

    def test_a_server_that_cannot_start(self) -> None:
        with self.assertRaises(geomodel.ServerDiedError):
            geomodel.launch_sync(FAKE, args=["--dead"])

    @unittest.skipUnless(os.name == "posix", "signals")
    def test_control_c_cancels_the_request_and_the_session_goes_on(self) -> None:
        # As a terminal sends it, to the whole group; and where the system has another thread receive it.
        for interrupt in "os.killpg(0, signal.SIGINT)", "signal.pthread_kill(threading.get_ident(), signal.SIGINT)":
            code = (
                "import os, signal, support, geomodel, threading\n"
                # Shells start what runs in the background with it ignored.
                "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                "with geomodel.launch_sync(support.FAKE) as server:\n"
                "    def watch():\n"
                "        while not any(m['method'] == 'test/slow' for m in server.call('test/log')['log']): pass\n"
                f"        {interrupt}\n"
                "    threading.Thread(target=watch).start()\n"
                "    try:\n        server.call('test/slow', {'seconds': 30})\n"
                "    except KeyboardInterrupt:\n"
                "        log = server.call('test/log')['log']\n"
                "        print('$/cancelRequest' in [m['method'] for m in log], flush=True)\n"
            )
            child = subprocess.Popen(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=TESTS, env=child_environment(), start_new_session=True
            )
            with self.subTest(interrupt):
                self.assertEqual((child.communicate(timeout=20)[0], child.returncode), (b"True\n", 0))

    def test_an_interrupt_at_any_moment_of_a_call_cancels_it(self) -> None:
        """One is raised in place of each line that a call runs on its thread, one line after the other."""
        with geomodel.launch_sync(FAKE) as server:
            portal, line, reached = server._portal, 0, True

            def trace(frame: FrameType, event: str, _: Any) -> Any:
                nonlocal left, reached
                if frame.f_code.co_filename != sys.modules[type(portal).__module__].__file__:
                    return None
                if event == "line":
                    left -= 1
                    if left < 0:
                        reached = True
                        sys.settrace(None)
                        raise KeyboardInterrupt
                return trace

            while reached:
                left, reached = line, False
                sys.settrace(trace)
                try:
                    server.call("session/echo", {"value": line})
                except KeyboardInterrupt:
                    pass
                finally:
                    sys.settrace(None)
                self.assertEqual(server.session.echo(value=line), {"value": line})
                self.assertEqual((portal._calls, server._async._connection._replies._pending), (set(), {}))
                line += 1
            self.assertGreater(line, 10)

    def test_a_call_that_meets_the_end_of_the_client_ends(self) -> None:
        for _ in range(20):
            server = geomodel.launch_sync(FAKE)
            ends: list[type[Exception]] = []

            def call() -> None:
                try:
                    while True:
                        server.session.echo(value=1)
                except Exception as error:
                    ends.append(type(error))

            threads = [threading.Thread(target=call, daemon=True) for _ in range(3)]
            for thread in threads:
                thread.start()
            server.close()
            for thread in threads:
                thread.join(10)
            self.assertEqual(ends, [geomodel.ClosedError] * 3)

    def test_the_interpreter_ends_with_a_server_open(self) -> None:
        code = "import support, geomodel; s = geomodel.launch_sync(support.FAKE); print(s.session.echo(value=1))"
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, cwd=TESTS, env=child_environment(), timeout=20
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"{'value': 1}\n", b""))
        self.assertLess(time.monotonic() - begin, 5)


if __name__ == "__main__":
    unittest.main()
