"""Messages that the server refuses as a whole: nobody waits for ever."""

import asyncio
import unittest

from support import FAKE, arrived

import geomodel


class RefusalTests(unittest.IsolatedAsyncioTestCase):
    """Errors whose id is null: the server could not read a message, and cannot say whose it was."""

    def setUp(self) -> None:
        logs = self.assertLogs("geomodel", "ERROR")
        logs.__enter__()
        self.addCleanup(logs.__exit__, None, None, None)

    async def test_a_refused_request_ends(self) -> None:
        async with geomodel.launch(FAKE) as server:
            with self.assertRaises(geomodel.errors.TooDeepError) as caught:
                await asyncio.wait_for(server.call("test/refuse"), 5)
            self.assertEqual(caught.exception.method, "test/refuse")
            self.assertEqual(await server.session.echo(value=1), {"value": 1})

    async def test_it_ends_alone_among_requests_that_work(self) -> None:
        async with geomodel.launch(FAKE) as server:
            slow = [asyncio.create_task(server.call("test/slow", {"seconds": 0.3})) for _ in range(3)]
            await arrived(server, "test/slow")
            refused = [
                asyncio.create_task(server.call("test/refuse", {"kind": kind})) for kind in ("tooDeep", "parseError")
            ]
            echo = asyncio.create_task(server.session.echo(value=1))
            results = await asyncio.wait_for(asyncio.gather(*slow, *refused, echo, return_exceptions=True), 5)
            self.assertEqual(results[:3], [{"slept": True}] * 3)
            self.assertEqual([getattr(error, "kind", error) for error in results[3:5]], ["tooDeep", "parseError"])
            self.assertEqual(results[5], {"value": 1})
            self.assertEqual(server._connection._replies._refusals._probed, {})

    async def test_a_refused_notification_ends_no_request(self) -> None:
        async with geomodel.launch(FAKE) as server:
            slow = asyncio.create_task(server.call("test/slow", {"seconds": 0.2}))
            await arrived(server, "test/slow")
            await server.notify("test/refuse")
            self.assertEqual(await asyncio.wait_for(slow, 5), {"slept": True})

    async def test_a_request_that_was_cancelled_and_refused_is_forgotten(self) -> None:
        async with geomodel.launch(FAKE) as server:
            refused = asyncio.create_task(server.call("test/refuse"))
            # A turn of the loop, in which it is sent.
            await asyncio.sleep(0)
            refused.cancel()
            await arrived(server, "map/get")
            self.assertEqual((server._connection._replies._orphans, server._connection._replies._refusals._probed), ({}, {}))

    async def test_a_refused_initialize_ends_the_launch(self) -> None:
        with self.assertRaises(geomodel.errors.ParseError):
            await asyncio.wait_for(geomodel.launch(FAKE, args=["--unread"]), 5)


if __name__ == "__main__":
    unittest.main()
