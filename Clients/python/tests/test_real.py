"""The client against the real server, where there is one."""

from __future__ import annotations

import array
import asyncio
import contextlib
import io
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import FIXTURES, ROOT, SERVER, needs_server

import geomodel
from geomodel import _wire
from geomodel._limits import Limits
from geomodel.conformance.__main__ import main as conformance

POINT = {"type": "Point", "coordinates": [2.35, 48.86]}


def nested(word: str, levels: int) -> Any:
    """Writes nested lists in place of a word: Python itself writes fewer levels, how many depends on its version."""
    text, lists = _wire._text, "[" * levels + "]" * levels
    return mock.patch.object(_wire, "_text", lambda message, **more: text(message, **more).replace(f'"{word}"', lists))


class Shape:
    __geo_interface__ = POINT


@needs_server
class RealTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = await geomodel.launch(SERVER, root_path=FIXTURES)
        self.addAsyncCleanup(self.server.close)
        if "overlay" not in self.server.capabilities.get("domains", []):
            self.skipTest("the server has no model yet")

    async def view(self) -> None:
        await self.server.map.create(id="m1")
        await self.server.view.create(id="v1", map="m1")
        await self.server.overlay.create(id="o1", view="v1")

    async def test_graphics_of_all_makes(self) -> None:
        await self.view()
        added = await self.server.overlay.add_graphics(overlay="o1", graphics=[Shape(), {"geometry": Shape()}])
        self.assertEqual(added["count"], 2)
        columns: Any = {"x": array.array("d", range(1000)), "y": array.array("f", [0] * 1000)}
        columns = {**columns, "x": array.array("d", [n / 10 for n in range(1000)])}
        await self.server.overlay.add_columns(overlay="o1", **columns, attributes={"n": array.array("q", range(1000))})
        box = {"xMin": 0, "yMin": -1, "xMax": 1, "yMax": 1}
        self.assertEqual((await self.server.feature.query_count(overlay="o1", envelope=box))["count"], 11)
        with self.assertRaises(geomodel.errors.InvalidItemsError):
            await self.server.overlay.add_graphics(overlay="o1", graphics=[{"geometry": {"type": "Blob"}}])

    async def test_results_in_parts(self) -> None:
        await self.view()
        columns: Any = {"x": array.array("d", [n / 1000 for n in range(9000)]), "y": array.array("d", [0.0] * 9000)}
        await self.server.overlay.add_columns(overlay="o1", **columns, attributes={"s": ["x" * 300] * 9000})
        parts = self.server.parts("feature/query", {"overlay": "o1", "whereClause": "s LIKE 'x%'"})
        sizes, ids = [], []
        async for part in parts:
            sizes.append(len(part["features"]))
            ids += [feature["id"] for feature in part["features"]]
            # Other calls are answered meanwhile.
            self.assertEqual((await self.server.overlay.get(overlay="o1"))["graphicCount"], 9000)
        self.assertTrue(len(sizes) > 2, sizes)
        self.assertEqual(ids, list(range(9000)))
        assert parts.result is not None
        self.assertEqual((parts.result["features"], parts.result["exceededLimit"]), ([], False))
        found = [n async for part in self.server.parts("feature/queryIds", {"overlay": "o1", "limit": 7}) for n in part["ids"]]
        self.assertEqual(found, list(range(7)))
        with self.assertRaises(geomodel.errors.UnknownFieldError):
            async for _ in self.server.parts("feature/query", {"overlay": "o1", "whereClause": "nothing > 1"}):
                self.fail("a refused request has no parts")

    async def test_parts_wait_on_the_server_while_nobody_reads_them(self) -> None:
        await self.view()
        columns: Any = {"x": array.array("d", [0.0] * 30000), "y": array.array("d", [0.0] * 30000)}
        await self.server.overlay.add_columns(overlay="o1", **columns, attributes={"s": ["x" * 300] * 30000})
        parts = self.server.parts("feature/query", {"overlay": "o1"})
        first = await anext(parts)
        # More than enough for all of them to be made.
        for _ in range(200):
            await self.server.session.status()
        self.assertLessEqual(parts._arrived.qsize(), 4)
        rest = [feature["id"] async for part in parts for feature in part["features"]]
        self.assertEqual([feature["id"] for feature in first["features"]] + rest, list(range(30000)))

    async def test_leaving_parts_cancels_the_request(self) -> None:
        await self.view()
        columns: Any = {"x": array.array("d", [0.0] * 30000), "y": array.array("d", [0.0] * 30000)}
        await self.server.overlay.add_columns(overlay="o1", **columns, attributes={"s": ["x" * 300] * 30000})
        async with self.server.parts("feature/query", {"overlay": "o1"}) as parts:
            async for part in parts:
                self.assertEqual(part["features"][0]["id"], 0)
                break
        status = await self.server.session.status()
        self.assertEqual(status["tasks"]["running"], 0)

    async def test_observations_are_iterated(self) -> None:
        await self.server.entity.create(id="buses", fields=[{"name": "id", "type": "string"}], track_id_field="id")
        await self.server.entity.connect(entity_source="buses")
        async with self.server.observe_entities("buses", notices="every") as subscription:
            for x in range(3):
                await self.server.entity.push(
                    entity_source="buses",
                    features=[{"geometry": {"type": "Point", "coordinates": [x, 0]}, "attributes": {"id": "a"}}],
                )
            await self.server.entity.purge(entity_source="buses", entities=[7])
            await self.server.entity.close(entity_source="buses")
            places = [o["geometry"]["coordinates"][0] async for o in subscription.observations()]
        self.assertEqual((places, subscription.left_out), ([0, 1, 2], 0))

    async def test_iteration_ends_with_what_is_followed(self) -> None:
        await self.view()
        line = {"type": "LineString", "coordinates": [[0, 0], [1, 0]]}
        await self.server.location.create_simulated(id="car", line=line)
        subscriptions: list[Any] = [
            await self.server.observe(["/views/v1/isNavigating"]),
            await self.server.observe_viewpoint("v1"),
            await self.server.observe_location("car"),
            await self.server.observe_taps("v1", spatial_reference="EPSG:4326"),
        ]

        async def items(subscription: Any) -> list[Any]:
            return [item async for item in subscription]

        waiting = [asyncio.create_task(items(subscription)) for subscription in subscriptions]
        tap: Any = {"type": "tap", "screenPoint": {"x": 400, "y": 300}}
        await self.server.view.interact(view="v1", interaction=tap)
        await self.server.location.close(location_source="car")
        await self.server.view.close(view="v1")
        heard = await asyncio.wait_for(asyncio.gather(*waiting), 10)
        self.assertEqual([len(items) for items in heard], [1, 0, 0, 1])
        self.assertEqual(heard[3][0]["kind"], "tap")
        self.assertEqual([s.reason["object"] for s in subscriptions], ["v1", "v1", "car", "v1"])
        for subscription in subscriptions:
            await subscription.close()

    async def test_transitions_one_by_one(self) -> None:
        await self.view()
        await self.server.clock.set(mode="manual")
        await self.server.overlay.create(id="zones", view="v1")
        zone = {"type": "Polygon", "coordinates": [[[0.05, -1], [0.15, -1], [0.15, 1], [0.05, 1], [0.05, -1]]]}
        await self.server.overlay.add_graphics(overlay="zones", graphics=[{"geometry": zone}])
        line = {"type": "LineString", "coordinates": [[0, 0], [1, 0]]}
        await self.server.location.create_simulated(id="car", line=line, velocity=11131.9490793)
        await self.server.geotrigger.create(id="w", feed="car", fences="zones")
        async with self.server.observe_geotrigger("w") as events:
            await self.server.geotrigger.start(geotrigger="w")
            self.assertEqual(events.warnings, ["feedNotStarted"])
            await self.server.location.start(location_source="car")
            await self.server.clock.advance(seconds=3)
            await self.server.geotrigger.close(geotrigger="w")
            self.assertEqual([(event["type"], event["cause"]) async for event in events], [("enter", "moved"), ("exit", "moved")])
            self.assertEqual((events.status, events.warnings), ({"type": "started"}, []))

    async def test_every_location_and_the_newest(self) -> None:
        await self.server.location.create_external(id="phone")
        await self.server.location.start(location_source="phone")
        places: list[Any] = [{"position": {"type": "Point", "coordinates": [x, 0]}} for x in range(5)]
        locations = self.server.locations
        async with locations("phone", delivery="every") as every, locations("phone") as newest:
            await self.server.location.push(location_source="phone", locations=places[:4])
            await self.server.location.push(location_source="phone", locations=places[4:])
            await self.server.location.close(location_source="phone")
            # Not one within the other: Python 3.10 has no such comprehensions.
            self.assertEqual([item["position"]["coordinates"][0] async for item in every], [0, 1, 2, 3, 4])
            self.assertEqual([item["position"]["coordinates"][0] async for item in newest], [4])

    async def test_a_replica_follows(self) -> None:
        await self.view()
        async with self.server.observe(["/views/*/viewpoint", "/maps/*", "/overlays/*"]) as sub:
            for scale in (1000, 2000, 3000):
                result = await self.server.view.set_viewpoint(view="v1", viewpoint={"type": "scale", "targetScale": scale})
                self.assertEqual(sub.revision, result["revision"])
                self.assertEqual(sub.at("/views/v1/viewpoint"), result["viewpoint"])
            await self.server.map.create(id="m2", title="T")
            await self.server.overlay.add_graphics(overlay="o1", graphics=[POINT])
            await self.server.map.close(map="m2")
            for path in ("/views/*/viewpoint", "/maps/*", "/overlays/*"):
                for value in (await self.server.state.get(path=path))["values"]:
                    self.assertEqual(sub.at(value["path"]), value["value"])
            self.assertIsNone(sub.at("/maps/m2"))
            self.assertEqual(len(sub.take_all()), 6)

    async def test_the_stream_of_what_is_closed_ends_with_its_last_changes(self) -> None:
        await self.server.map.create(id="m1", title="A")
        async with self.server.observe("/maps/m1/title") as sub:
            await self.server.map.update(map="m1", title="B")
            await self.server.map.close(map="m1")
            seen = [change.changes[0]["op"] async for change in sub]
            self.assertEqual((seen, (sub.reason or {})["reason"]), (["replace", "remove"], "closed"))

    async def test_a_replica_with_deferred_edits_follows_at_their_end(self) -> None:
        await self.server.map.create(id="m1", title="A")
        path = "/maps/m1/title"
        async with self.server.observe(path) as live, self.server.observe(path, edits="deferred") as deferred:
            await self.server.edit.begin(name="Rename")
            for title in ("B", "C", "D"):
                await self.server.map.update(map="m1", title=title)
            self.assertEqual((live.at(path), len(live.take_all())), ("D", 3))
            self.assertEqual((deferred.at(path), deferred.take_all()), ("A", []))
            ended = await self.server.edit.end()
            deltas = deferred.take_all()
            self.assertEqual((deferred.at(path), deferred.revision), ("D", deltas[0].revision))
            self.assertLessEqual(deltas[0].revision, ended["revision"])
            self.assertEqual([change.changes for change in deltas], [[{"op": "replace", "path": path, "value": "D"}]])
            self.assertEqual(live.take_all(), [])
            # Changes that the edit reverts are not sent.
            await self.server.edit.begin()
            await self.server.map.update(map="m1", title="E")
            await self.server.edit.cancel()
            self.assertEqual((deferred.take_all(), [change.changes[0]["value"] for change in live.take_all()]), ([], ["E", "D"]))

    async def test_a_file_with_progress(self) -> None:
        await self.server.source.open(path=FIXTURES / "naturalearth_110m.gpkg", id="w")
        await self.server.map.create(id="m1")
        await self.server.layer.add(map="m1", source="w", source_layer="cities", id="l1")
        seen: list[Any] = []
        loaded = await self.server.options(progress=seen.append).layer.load(layer="l1")
        self.assertEqual(loaded["featureCount"], 243)
        self.assertEqual((seen[0]["kind"], seen[-1]["kind"]), ("begin", "end"))
        with self.assertRaises(geomodel.errors.FileNotFoundError):
            await self.server.source.open(path="none.gpkg")

    async def test_cancelling_ends_a_flight(self) -> None:
        await self.view()
        flight = asyncio.create_task(
            self.server.view.animate_viewpoint(view="v1", viewpoint={"type": "scale", "targetScale": 10}, duration=60)
        )
        async with self.server.observe("/views/v1/isNavigating") as sub:
            while not sub.at("/views/v1/isNavigating"):
                await sub.get(timeout=5)
            flight.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await flight
            while sub.at("/views/v1/isNavigating"):
                await sub.get(timeout=5)

    async def test_cancelling_ends_a_long_advance_that_has_begun(self) -> None:
        await self.view()
        await self.server.clock.set(mode="manual")
        flight = asyncio.create_task(
            self.server.view.animate_viewpoint(view="v1", viewpoint={"type": "scale", "targetScale": 10}, duration=3600)
        )
        async with self.server.observe("/views/v1/scale") as sub:
            advance = asyncio.create_task(self.server.clock.advance(seconds=3600))
            await sub.get(timeout=5)
            advance.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await advance
        self.assertLess((await self.server.clock.get())["now"], "2000-01-01T01:00:00Z")
        self.assertFalse(flight.done())
        flight.cancel()
        await asyncio.wait({flight})

    async def test_a_trace_can_be_replayed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.jsonl"
            for framing in ("headers", "lines"):
                async with geomodel.launch(SERVER, trace_file=trace, framing=framing) as server:
                    async with server.observe("/maps/*") as sub:
                        await server.map.create(id="m1", title="\u00e9\u2028")
                        with self.assertRaises(geomodel.errors.IdExistsError):
                            await server.map.create(id="m1")
                        self.assertEqual(len(sub.take_all()), 1)
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    status = await asyncio.to_thread(conformance, [str(trace), "--", str(SERVER)])
                self.assertEqual((status, out.getvalue().splitlines()[-1]), (0, "1 passed, 0 failed"), out.getvalue())

    async def test_what_the_server_refuses_as_a_whole_never_makes_a_caller_wait(self) -> None:
        limits, self.server._connection.limits = self.server._connection.limits, Limits()
        self.assertEqual(limits, Limits(64 << 20, 4_000_000))
        # Without the client's own look; what the server says has to be worth as much. Each is refused under its own id.
        with mock.patch.object(Limits, "check"), nested("deep", 2100), self.assertNoLogs("geomodel", "ERROR"):
            await self.view()
            flight = asyncio.create_task(
                self.server.view.animate_viewpoint(view="v1", viewpoint={"type": "scale", "targetScale": 10}, duration=60)
            )
            values = {"parseError": {"a\0b": 1}, "tooDeep": "deep", "duplicateKey": {1: 1, "1": 2}}
            calls = [self.server.session.echo(value=value) for value in ("before", *values.values(), "after")]
            first, *refused, last = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)
            self.assertEqual((first, last), ({"value": "before"}, {"value": "after"}))
            self.assertEqual([getattr(error, "kind", error) for error in refused], list(values))
            with self.assertRaises(geomodel.errors.MessageTooLargeError):
                await asyncio.wait_for(self.server.session.echo(value="x" * 70_000_000), 30)
            self.assertFalse(flight.done())
            flight.cancel()
            await asyncio.wait({flight})
        # With it, nothing is sent.
        self.server._connection.limits = limits
        received = (await self.server.session.status())["traffic"]["received"]
        with nested("deep", 2100):
            for value in (2**70, [2**70], {"a\0b": 1}, "deep", [1] * 4_100_000, "x" * 70_000_000):
                with self.assertRaises(geomodel.EncodeError):
                    await self.server.session.echo(value=value)
        self.assertEqual((await self.server.session.status())["traffic"]["received"], received + 1)

    async def test_the_first_script_of_the_readme(self) -> None:
        text = (ROOT / "Clients" / "python" / "README.md").read_text(encoding="utf-8")
        code = text.split("```python")[1].split("```")[0].replace("launch_sync()", f"launch_sync({str(SERVER)!r})")
        printed: list[Any] = []
        begin = time.monotonic()
        exec(compile(code, "README.md", "exec"), {"print": printed.append})
        self.assertEqual(printed, [["Paris"]])
        self.assertLess(time.monotonic() - begin, 10)


@needs_server
class SyncPartsTests(unittest.TestCase):
    def test_results_in_parts_where_calls_block(self) -> None:
        with geomodel.launch_sync(SERVER) as server:
            server.map.create(id="m1")
            server.view.create(id="v1", map="m1")
            server.overlay.create(id="o1", view="v1")
            server.overlay.add_columns(
                overlay="o1", x=array.array("d", [0.0] * 9000), y=array.array("d", [0.0] * 9000),
                attributes={"s": ["x" * 300] * 9000})
            parts = server.parts("feature/query", {"overlay": "o1", "returnGeometry": False})
            self.assertEqual([f["id"] for part in parts for f in part["features"]], list(range(9000)))
            assert parts.result is not None
            self.assertEqual(parts.result["features"], [])
            with server.parts("feature/query", {"overlay": "o1"}) as parts:
                self.assertEqual(next(parts)["features"][0]["id"], 0)
            self.assertEqual(server.session.status()["tasks"]["running"], 0)


if __name__ == "__main__":
    unittest.main()
