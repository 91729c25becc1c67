"""The asynchronous client against a fake server."""

import asyncio
import inspect
import os
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import FAKE, arrived

import geomodel
from geomodel._generated.methods_async import (
    EntityMethods,
    GeotriggerMethods,
    LocationMethods,
    StateMethods,
    ViewMethods,
)


class ClientTests(unittest.IsolatedAsyncioTestCase):
    async def test_calls_in_both_framings(self) -> None:
        for framing in ("headers", "lines"):
            async with geomodel.launch(FAKE, framing=framing) as server:
                self.assertEqual(await server.session.echo(value=[1, "\u00e9\n", None]), {"value": [1, "\u00e9\n", None]})
                self.assertEqual(server.server_info["name"], "fake")
            self.assertEqual(server.exit_status, 0)

    async def test_initialize_says_who_and_where(self) -> None:
        async with geomodel.launch(FAKE, root_path=Path("data"), client_name="me") as server:
            log = (await server.call("test/log"))["log"]
        self.assertEqual(log[0]["params"]["rootPath"], os.path.abspath("data"))
        self.assertEqual(log[0]["params"]["clientInfo"]["name"], "me")
        self.assertEqual(log[0]["params"]["processId"], os.getpid())
        self.assertEqual(log[1]["method"], "initialized")

    async def test_arguments_directory_and_environment(self) -> None:
        code = "import sys,os; sys.argv[0]; sys.stderr.write(repr((sys.argv[1:], os.getcwd(), os.environ['X_TEST']))); sys.exit(5)"
        with self.assertRaises(geomodel.ServerDiedError) as caught:
            await geomodel.launch(
                [FAKE[0], "-c", code], allow_dir=["/a", Path("/b")], allow_write="/c", trace_file="t",
                args=["--more"], cwd="/", env={"X_TEST": "y"},
            )
        expected = (["--allow-dir", "/a", "--allow-dir", "/b", "--allow-write", "/c", "--trace-file", "t", "--more"], "/", "y")
        self.assertEqual(caught.exception.stderr, repr(expected))
        self.assertEqual(caught.exception.exit_status, 5)

    async def test_many_calls_at_once_get_their_own_answers(self) -> None:
        async with geomodel.launch(FAKE) as server:
            results = await asyncio.gather(*(server.session.echo(value=n) for n in range(1000)))
        self.assertEqual([result["value"] for result in results], list(range(1000)))

    async def test_calls_made_at_once_leave_in_one_write_and_in_their_order(self) -> None:
        async with geomodel.launch(FAKE) as server:
            await server.session.echo(value="what the start sends is away")
            pipe = server._connection._process._input
            with mock.patch.object(pipe, "write", wraps=pipe.write) as write:
                texts = ["a", "b", "x" * 100_000, "c", "d"]
                await asyncio.gather(*(server.session.echo(value=text) for text in texts))
            # What is large goes by itself: to put it together with others would copy it.
            self.assertEqual([b"".join(call.args[0]).count(b"session/echo") for call in write.call_args_list], [2, 1, 2])
            log = [message["params"] for message in (await server.call("test/log"))["log"] if message["method"] == "session/echo"]
            self.assertEqual([params["value"] for params in log[1:]], texts)

    async def test_large_messages_both_ways_without_deadlock(self) -> None:
        text = "\u00e9" * 3_000_000
        async with geomodel.launch(FAKE) as server:
            results = await asyncio.gather(*(server.session.echo(value=text) for _ in range(4)))
        self.assertTrue(all(result["value"] == text for result in results))

    async def test_a_flood_on_stderr_holds_nothing_up(self) -> None:
        async with geomodel.launch(FAKE, args=["--noisy"]) as server:
            self.assertEqual(await server.session.echo(value=1), {"value": 1})
            self.assertLessEqual(len(server.stderr_tail), 10_000)

    async def test_an_error_has_kind_path_and_expectation(self) -> None:
        async with geomodel.launch(FAKE) as server:
            with self.assertRaises(geomodel.errors.UnknownIdError) as caught:
                await server.view.get(view="v9")
        error = caught.exception
        self.assertIsInstance(error, geomodel.GeoModelError)
        self.assertIsInstance(error, geomodel.Error)
        self.assertEqual((error.kind, error.code, error.path, error.expected), ("unknownId", -31010, "/params/view", "a view"))
        self.assertEqual((error.data["id"], error.method), ("v9", "view/get"))
        self.assertIn("unknownId", str(error))

    async def test_a_kind_from_the_future_is_a_plain_error(self) -> None:
        error = geomodel.errors.error_from_wire({"code": -31999, "message": "m", "data": {"kind": "newer"}})
        self.assertEqual((type(error), error.kind, error.code), (geomodel.GeoModelError, "newer", -31999))

    async def test_cancelling_the_task_cancels_the_request(self) -> None:
        async with geomodel.launch(FAKE) as server:
            task = asyncio.create_task(server.call("test/slow"))
            await arrived(server, "test/slow")
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            log = (await server.call("test/log"))["log"]
            slow = next(m["id"] for m in log if m.get("method") == "test/slow")
            self.assertIn(slow, [m["params"]["id"] for m in log if m["method"] == "$/cancelRequest"])
            self.assertEqual(await server.session.echo(value=1), {"value": 1})

    async def test_an_answer_that_comes_after_the_cancel_is_dropped(self) -> None:
        async with geomodel.launch(FAKE) as server:
            with self.assertRaises(geomodel.CallTimeoutError):
                await server.options(timeout=0.05).call("test/slow", {"answersAnyway": True})
            await arrived(server, "(slow answered)")
            self.assertEqual(await server.session.echo(value=1), {"value": 1})

    async def test_a_subscription_that_came_too_late_is_given_back(self) -> None:
        async with geomodel.launch(FAKE) as server:
            params = {"answersAnyway": True, "makes": True}
            late = asyncio.ensure_future(server._request("test/slow", params, on_orphan=server._give_back_subscription))
            await arrived(server, "test/slow")
            late.cancel()
            await arrived(server, "state/unobserve")
            log = (await server.call("test/log"))["log"]
        self.assertIn("late", [m["params"]["subscription"] for m in log if m["method"] == "state/unobserve"])

    async def test_timeout(self) -> None:
        async with geomodel.launch(FAKE) as server:
            begin = time.monotonic()
            with self.assertRaises(geomodel.CallTimeoutError) as caught:
                await server.options(timeout=0.1).call("test/slow")
            self.assertLess(time.monotonic() - begin, 1.0)
            self.assertIsInstance(caught.exception, TimeoutError)
            self.assertEqual(await server.options(timeout=5).session.echo(value=1), {"value": 1})

    async def test_options_travel_as_meta(self) -> None:
        async with geomodel.launch(FAKE) as server:
            panel = server.options(origin="panel", if_revision=3)
            echoed = await panel.options(scope="v1", key="k", task="t", task_timeout=2.5).session.echo(value=1)
            own = await panel.session.echo(value=1, meta={"origin": "other"})
            plain = await server.session.echo(value=1)
        self.assertEqual(
            echoed["meta"],
            {"origin": "panel", "ifRevision": 3, "task": {"scope": "v1", "key": "k", "id": "t", "timeout": 2.5}},
        )
        self.assertEqual(own["meta"], {"origin": "other", "ifRevision": 3})
        self.assertEqual(plain, {"value": 1})

    async def test_progress_comes_before_the_result(self) -> None:
        seen: list[Any] = []
        async with geomodel.launch(FAKE) as server:
            await server.options(progress=seen.append).call("test/slow", {"seconds": 0.1})
            before = len(seen)
            await server.session.echo(value=1)
        self.assertEqual([report["percentage"] for report in seen], [0, 50, 100])
        self.assertEqual(len(seen), before)

    async def test_what_a_progress_callback_raises_the_call_raises(self) -> None:
        def fail(report: dict[str, Any]) -> None:
            raise LookupError("enough")

        async with geomodel.launch(FAKE) as server:
            with self.assertRaises(LookupError):
                await server.options(progress=fail).call("test/slow")
            log = (await server.call("test/log"))["log"]
            self.assertIn("$/cancelRequest", [m["method"] for m in log])

    async def test_a_value_that_cannot_be_sent_leaves_the_session_well(self) -> None:
        async with geomodel.launch(FAKE) as server:
            with self.assertRaises(geomodel.EncodeError):
                await server.session.echo(value=float("nan"))
            self.assertEqual(await server.session.echo(value=1), {"value": 1})

    async def test_wrong_types_are_encode_errors_wherever_they_are_given(self) -> None:
        async with geomodel.launch(FAKE) as server:
            wrong: list[Any] = [
                server.overlay.add_graphics(overlay="o", graphics=5),  # type: ignore[arg-type]
                server.overlay.add_columns(overlay="o", x=1.5, y=[1]), server.call("session/echo", 7),  # type: ignore[arg-type]
                server.options(timeout="soon").session.echo(value=1), server.session.echo(value={1, "a", object}),  # type: ignore[arg-type]
                server.observe(object()), server.notify("$/setTrace", {"value": object()}),  # type: ignore[arg-type]
            ]
            for call in wrong:
                with self.assertRaises(geomodel.EncodeError):
                    await call
            for given in ({"allow_dir": 5}, {"allow_write": 5}, {"args": [5]}, {"root_path": 5}, {"framing": "tcp"}, {"env": {"A": 5}}, {"cwd": {}}):
                with self.subTest(given), self.assertRaises(geomodel.EncodeError):
                    await geomodel.launch(FAKE, **given)  # type: ignore[arg-type]
            self.assertEqual(await server.session.echo(value=1), {"value": 1})

    async def test_requests_of_the_server_are_refused(self) -> None:
        async with geomodel.launch(FAKE) as server:
            await server.call("test/ask")
            log = (await server.call("test/log"))["log"]
        self.assertEqual([m["error"]["code"] for m in log if "error" in m], [-32601])


class NotificationTests(unittest.IsolatedAsyncioTestCase):
    async def test_none_is_lost_between_the_call_and_the_first_iteration(self) -> None:
        async with geomodel.launch(FAKE) as server:
            stream = server.notifications("test/notified")
            await server.call("test/notify", {"count": 5})
            self.assertEqual([item["n"] for item in stream.take_all()], list(range(5)))
            await server.call("test/notify", {"count": 3})
            seen = []
            async for item in stream:
                seen.append(item["n"])
                if len(seen) == 3:
                    break
            self.assertEqual(seen, [0, 1, 2])

    async def test_all_of_them_with_their_methods(self) -> None:
        async with geomodel.launch(FAKE) as server:
            async with server.notifications() as stream:
                await server.call("test/notify", {"count": 1})
                self.assertEqual(await stream.get(timeout=1), {"method": "test/notified", "params": {"n": 0}})

    async def test_a_reader_that_sleeps_loses_the_oldest_and_is_notified(self) -> None:
        async with geomodel.launch(FAKE) as server:
            stream = server.notifications("test/notified", limit=10)
            await server.call("test/notify", {"count": 25})
            with self.assertRaises(geomodel.NotificationsLostError) as caught:
                await stream.get()
            self.assertEqual(caught.exception.count, 15)
            self.assertEqual([item["n"] for item in stream.take_all()], list(range(15, 25)))

    async def test_waiting_has_an_end(self) -> None:
        async with geomodel.launch(FAKE) as server:
            stream = server.notifications("test/notified")
            with self.assertRaises(geomodel.CallTimeoutError):
                await stream.get(timeout=0.05)
            waiter = asyncio.create_task(_collect(stream))
            # A turn of the loop, in which it begins to wait.
            await asyncio.sleep(0)
            stream.close()
            self.assertEqual(await waiter, [])
            rest = asyncio.create_task(_collect(server.notifications("test/notified")))
            # The same.
            await asyncio.sleep(0)
        self.assertEqual(await rest, [])

    async def test_a_forgotten_stream_is_not_fed(self) -> None:
        async with geomodel.launch(FAKE) as server:
            server.notifications("test/notified")
            await server.call("test/notify", {"count": 1})
            self.assertEqual(len(server._connection._streams), 0)


class ObserveTests(unittest.IsolatedAsyncioTestCase):
    def test_each_way_to_observe_takes_what_its_method_takes(self) -> None:
        for method, way in (
            (StateMethods.observe, "observe"), (ViewMethods.observe_viewpoint, "observe_viewpoint"),
            (ViewMethods.observe_taps, "observe_taps"), (LocationMethods.observe, "observe_location"),
            (GeotriggerMethods.observe, "observe_geotrigger"), (EntityMethods.observe, "observe_entities"),
        ):  # fmt: skip
            wanted = set(inspect.signature(method).parameters) - {"meta"} | {"limit"}
            for client in (geomodel.Client, geomodel.SyncClient):
                self.assertEqual(set(inspect.signature(getattr(client, way)).parameters), wanted)

    async def test_deltas_in_the_same_read_as_the_reply(self) -> None:
        async with geomodel.launch(FAKE) as server:
            async with server.observe("/early") as sub:
                self.assertEqual(sub.snapshot, [{"path": "/views/v1/n", "value": 0}])
                self.assertEqual((sub.state, sub.revision, sub.at("/views/v1/n")), ({"views": {"v1": {"n": 2}}}, 9, 2))
                first, second = await sub.get(1), await sub.get(1)
                self.assertEqual((first.base, first.revision, second.base, second.revision), (7, 8, 8, 9))
                self.assertEqual(first.changes, [{"op": "replace", "path": "/views/v1/n", "value": 1}])
            log = (await server.call("test/log"))["log"]
            self.assertEqual(log[-2]["method"], "state/unobserve")

    async def test_a_snapshot_and_a_delta_in_parts(self) -> None:
        async with geomodel.launch(FAKE) as server:
            async with server.observe(["/parts"]) as sub:
                change = await sub.get(1)
                self.assertEqual(sub.state, {"views": {"v1": {"n": 5, "m": [2]}}})
                self.assertEqual((change.revision, len(change.changes), sub.take_all()), (8, 2, []))

    async def test_a_resync_replaces_everything(self) -> None:
        async with geomodel.launch(FAKE) as server:
            async with server.observe("/resync") as sub:
                resync, change = await sub.get(1), await sub.get(1)
                self.assertEqual((resync.resynced, resync.revision, change.resynced), (True, 99, False))
                self.assertEqual(sub.at("/views/v1/n"), 43)

    async def test_a_gap_is_reported(self) -> None:
        async with geomodel.launch(FAKE) as server:
            with self.assertRaises(geomodel.ProtocolError):
                async with server.observe("/gap") as sub:
                    await sub.get(1)

    async def test_deltas_that_nobody_reads_become_one_resync(self) -> None:
        async with geomodel.launch(FAKE) as server:
            async with server.observe("/many", max_rate=100, limit=10) as sub:
                await server.session.echo(value=1)
                changes = sub.take_all()
                self.assertLessEqual(len(changes), 10)
                self.assertTrue(changes[0].resynced)
                self.assertEqual((sub.revision, sub.at("/views/v1/n")), (107, 99))

    async def test_await_instead_of_with(self) -> None:
        async with geomodel.launch(FAKE) as server:
            sub = await server.observe("/early")
            await sub.close()
            await sub.close()
            self.assertEqual(await _collect(sub), [])


class EndTests(unittest.IsolatedAsyncioTestCase):
    async def test_death_reaches_every_waiter_at_once(self) -> None:
        server = await geomodel.launch(FAKE)
        stream = server.notifications("test/notified")
        sub = await server.observe("/none")
        waiters = [
            asyncio.create_task(server.call("test/slow")), asyncio.create_task(server.call("test/slow")),
            asyncio.create_task(stream.get()), asyncio.create_task(sub.get()), asyncio.create_task(server.call("test/die")),
        ]
        begin = time.monotonic()
        for result in await asyncio.gather(*waiters, return_exceptions=True):
            self.assertIsInstance(result, geomodel.ServerDiedError)
            self.assertEqual((result.exit_status, result.stderr), (3, "first line\nlast words"))
        self.assertLess(time.monotonic() - begin, 1.0)
        with self.assertRaises(geomodel.ServerDiedError) as caught:
            await server.session.echo(value=1)
        self.assertIsInstance(caught.exception, ConnectionError)
        self.assertIn("last words", str(caught.exception))
        await sub.close()
        await server.close()

    async def test_a_server_that_cannot_start(self) -> None:
        with self.assertRaises(geomodel.ServerDiedError) as caught:
            await geomodel.launch(FAKE, args=["--dead"])
        self.assertIn("no such flag", caught.exception.stderr)
        with self.assertRaises(geomodel.errors.VersionMismatchError):
            await geomodel.launch(FAKE, args=["--refuse"])
        with self.assertRaises(geomodel.ServerDiedError):
            await geomodel.launch(FAKE, args=["--mute"], start_timeout=0.3)

    async def test_output_that_ends_is_a_death(self) -> None:
        server = await geomodel.launch(FAKE)
        with self.assertRaises(geomodel.ServerDiedError):
            await asyncio.wait_for(server.call("test/closeOutput"), 5)
        await server.close()

    async def test_rubbish_is_a_protocol_error(self) -> None:
        server = await geomodel.launch(FAKE)
        with self.assertRaises(geomodel.ProtocolError):
            await server.call("test/garbage")
        await server.close()

    async def test_a_stubborn_server_is_killed_after_the_grace(self) -> None:
        server = await geomodel.launch(FAKE, args=["--stubborn"], grace=0.2)
        begin = time.monotonic()
        with self.assertLogs("geomodel", "WARNING"):
            await server.close()
        self.assertLess(time.monotonic() - begin, 3.0)
        self.assertIn(server.exit_status, (-15, -9))

    async def test_closing_twice_and_using_after(self) -> None:
        async with geomodel.launch(FAKE) as server:
            await server.close()
        await server.close()
        with self.assertRaises(geomodel.ClosedError):
            await server.session.echo(value=1)

    async def test_closing_while_calls_wait(self) -> None:
        server = await geomodel.launch(FAKE)
        waiter = asyncio.create_task(server.call("test/slow"))
        await arrived(server, "test/slow")
        await server.close()
        with self.assertRaises(geomodel.ClosedError):
            await waiter

    async def test_cancelling_the_whole_block_leaves_no_process(self) -> None:
        started: list[geomodel.Server] = []

        async def run() -> None:
            async with geomodel.launch(FAKE) as server:
                started.append(server)
                await server.call("test/slow")

        task = asyncio.create_task(run())
        while not started:
            # Lets the task run; nothing is waited for by time.
            await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(started[0].exit_status, 0)


async def _collect(stream: Any) -> list[Any]:
    return [item async for item in stream]


if __name__ == "__main__":
    unittest.main()
