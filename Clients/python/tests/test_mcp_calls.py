"""Calls of agents that take long, are wrong, or lose their server, over `geomodel mcp`."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import unittest
from pathlib import Path
from typing import Any, Awaitable, Callable

from agent_support import agent, fake, needs_mcp, raw_agent, refused, script, temporary, told
from support import SERVER


def within(seconds: float) -> Callable[[Callable[[Any], Awaitable[None]]], Callable[[Any], Awaitable[None]]]:
    """For a test that would wait for ever for what does not come."""

    def limited(test: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        @functools.wraps(test)
        async def run(self: Any) -> None:
            await asyncio.wait_for(test(self), seconds)

        return run

    return limited


@needs_mcp
class LongTests(unittest.IsolatedAsyncioTestCase):
    """Progress and cancelling."""

    @within(120)
    async def test_progress_increases(self) -> None:
        for mode in ("legacy", "2026-07-28"):
            with self.subTest(mode), temporary() as folder:
                async with agent("--server", fake(folder), mode=mode) as client:
                    reports: list[tuple[float, float | None]] = []
                    enough = asyncio.Event()

                    async def report(progress: float, total: float | None, message: str | None) -> None:
                        reports.append((progress, total))
                        if progress == 100:
                            enough.set()

                    slow = asyncio.ensure_future(
                        client.call_tool("call", {"method": "test/slow", "params": {"seconds": 60}}, progress_callback=report)
                    )
                    await enough.wait()
                    slow.cancel()
                    await asyncio.wait({slow})
                    self.assertEqual(reports, sorted(set(reports)))
                    self.assertEqual(reports[-1], (100, 100))

    @within(120)
    async def test_cancelling_a_call_cancels_the_request_in_the_server(self) -> None:
        for mode in ("legacy", "2026-07-28"):
            with self.subTest(mode), temporary() as folder:
                async with agent("--server", fake(folder), mode=mode) as client:
                    slow = asyncio.ensure_future(client.call_tool("call", {"method": "test/slow", "params": {"seconds": 60}}))
                    await self._seen(client, "test/slow")
                    slow.cancel()
                    await asyncio.wait({slow})
                    await self._seen(client, "(slow answered)")

    async def _seen(self, client: Any, method: str) -> None:
        while method not in [each.get("method") for each in (await told(client, "call", method="test/log"))["result"]["log"]]:
            await asyncio.sleep(0)

    @within(120)
    async def test_an_agent_that_goes_away_in_a_call(self) -> None:
        with temporary() as folder:
            async with raw_agent("--server", fake(folder)) as client:
                await client.initialize("2025-11-25")
                call = {"name": "call", "arguments": {"method": "test/slow", "params": {"seconds": 60}}}
                await client.send({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call})
                await client.request("tools/call", {"name": "call", "arguments": {"method": "test/log"}})
                self.assertEqual(await client.end(), 0)

    @within(120)
    async def test_cancelling_ends_a_task_of_the_real_server(self) -> None:
        # A recording lasts until someone ends it.
        with temporary() as folder:
            async with agent() as client:
                feed = {"id": "feed", "fields": [{"name": "track", "type": "string"}], "trackIdField": "track"}
                await told(client, "call", method="entity/create", params=feed)
                params = {"entitySource": "feed", "path": f"{folder}/record.jsonl"}
                recording = asyncio.ensure_future(client.call_tool("call", {"method": "entity/record", "params": params}))

                async def tasks() -> list[Any]:
                    listed: list[Any] = (await told(client, "call", method="task/list"))["result"]["tasks"]
                    return listed

                while not (running := await tasks()):
                    self.assertFalse(recording.done(), recording)
                self.assertEqual([task["method"] for task in running], ["entity/record"])
                recording.cancel()
                await asyncio.wait({recording})
                while await tasks():
                    pass


@needs_mcp
class BadInputTests(unittest.IsolatedAsyncioTestCase):
    async def test_tools_and_arguments_that_there_are_not(self) -> None:
        async with agent() as client:
            error = await refused(client, "query_featurs")
            self.assertEqual(error["kind"], "unknownTool")
            self.assertIn("did you mean query_features", error["message"])
            self.assertEqual(len(error["available"]), 20)
            error = await refused(client, "query_features", layer="l", wher="TRUE")
            self.assertEqual((error["kind"], error["argument"]), ("invalidArguments", "wher"))
            self.assertIn("did you mean where", error["message"])
            error = await refused(client, "query_features")
            self.assertIn("layer: Field required", error["message"])

    async def test_a_raster_is_opened_shown_and_changed(self) -> None:
        async with agent() as client:
            layer = (await told(client, "open_file", path="jacksboro_dem.tif"))["layers"][0]
            self.assertEqual((layer["kind"], layer["name"]), ("raster", "jacksboro_dem"))
            self.assertEqual((await told(client, "describe_layer", layer="jacksboro_dem"))["sample"], [])
            self.assertNotIn("matching", await told(client, "update_layer", layer="jacksboro_dem", opacity=0.5))
            center = (await told(client, "set_viewpoint", layer="jacksboro_dem"))["viewpoint"]["center"]["coordinates"]
            self.assertEqual([round(each, 1) for each in center], [-84.2, 36.6])
            self.assertEqual((await refused(client, "query_features", layer="jacksboro_dem"))["kind"], "wrongKind")
            self.assertEqual((await refused(client, "open_file", path="README.md"))["kind"], "unknownFormat")
            self.assertEqual(len((await told(client, "describe_model"))["layers"]), 1)

    async def test_latitudes_that_are_none_are_said(self) -> None:
        async with agent() as client:
            added = await told(client, "add_features", geojson={"type": "Point", "coordinates": [46.9, 107.4]})
            self.assertIn("latitudes beyond 90", added["warnings"][0])

    async def test_the_methods_that_have_a_word_are_named_first(self) -> None:
        async with agent() as client:
            self.assertIn("near it are surface/viewshed", (await refused(client, "describe", name="viewshed"))["message"])

    async def test_arguments_of_other_types(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="naturalearth_110m.gpkg")
            for arguments, words in [
                ({"layer": 5}, "layer: Input should be a valid string"),
                ({"layer": "cities", "limit": "many"}, "limit: Input should be a valid integer"),
                ({"layer": "cities", "limit": -1}, "limit: Input should be greater than or equal to 0"),
                ({"layer": "cities", "near": "Bern"}, "(As {x: 7.4, y: 46.9}: nearest first"),
                ({"layer": "cities", "bbox": "5,45,8,48"}, "bbox: Input should be a valid list ([west, south, east, north]"),
                ({"layer": "cities", "bbox": [1, 2, 3]}, "bbox has 4 numbers"),
                ({"layer": "cities", "relationship": "near"}, "relationship: Input should be 'intersects'"),
                ({"layer": "cities", "fields": {"name": 1}}, "fields: Input should be a valid list"),
            ]:
                with self.subTest(arguments):
                    error = await refused(client, "query_features", **arguments)
                    self.assertEqual(error["kind"], "invalidArguments")
                    self.assertIn(words, error["message"])
            # What some agents do: numbers and objects as text.
            found = await told(client, "query_features", layer="cities", limit="2", near='{"x": 8, "y": 47}')
            self.assertEqual([row["name"] for row in found["rows"]], ["Bern", "Vaduz"])

    async def test_errors_of_the_model_say_what_to_do(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="naturalearth_110m.gpkg")
            for tool, arguments, kind, words in [
                ("query_features", {"layer": "citys"}, "unknownId", "describe_model"),
                ("query_features", {"layer": "countries", "where": "population > 1"}, "unknownField", "describe_layer"),
                ("query_features", {"layer": "countries", "where": "name = = 1"}, "expressionSyntax", "single quotes"),
                ("query_features", {"layer": "countries", "where": "name > 1"}, "expressionType", "describe_layer"),
                (
                    "query_features",
                    {"layer": "countries", "bbox": [0, 0, 1, 1], "spatial_reference": "EPSG:1"},
                    "unknownSpatialReference",
                    "EPSG:4326",
                ),
                ("statistics", {"layer": "countries", "statistics": ["sum(name)"]}, "wrongFieldType", "describe_layer"),
                ("statistics", {"layer": "countries", "statistics": ["sum of all"]}, "invalidArguments", "schema"),
                ("open_file", {"path": "none.gpkg"}, "fileNotFound", "ask the user"),
                ("open_file", {"path": "naturalearth_110m.gpkg", "layers": ["rivers"]}, "invalidArguments", "schema"),
                ("open_document", {"path": "sent.jsonl"}, "invalidDocument", "open_file"),
                ("save_document", {}, "documentUntitled", "path"),
                ("undo", {"steps": 99}, "nothingToUndo", "nothing to undo"),
                ("call", {"method": "layer/updat"}, "unknownMethod", "describe"),
                ("call", {"method": "layer/update", "params": {"layer": "cities", "visible": True}}, "unknownMember", "describe"),
                ("call", {"method": "shutdown"}, "invalidArguments", "schema"),
                ("call", {"method": "state/observe", "params": {"paths": ["/maps"]}}, "invalidArguments", "schema"),
                (
                    "call", {"method": "feature/query", "params": {"layer": "cities", "meta": {"partialResultToken": "t"}}},
                    "invalidArguments", "schema",
                ),
                ("set_renderer", {"layer": "cities", "kind": "simple", "colors": ["red"]}, "invalidParams", "schema"),
                ("clip", {"layer": "countries"}, "invalidArguments", "schema"),
                ("select_features", {"layer": "countries"}, "invalidArguments", "schema"),
            ]:
                with self.subTest(tool, **arguments):
                    error = await refused(client, tool, **arguments)
                    self.assertEqual(error["kind"], kind, error)
                    self.assertIn(words, error["next"])
            # A refused file leaves nothing behind.
            self.assertEqual(len((await told(client, "describe_model"))["sources"]), 1)

    async def test_lines_that_no_package_would_send(self) -> None:
        async with raw_agent() as client:
            await client.write(b"{no json\n")
            await client.initialize("2025-11-25")
            # The package `mcp` answers neither this nor what is no JSON; both do no harm.
            await client.send({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": []})
            for params in ({"name": 5}, {"arguments": {}}, {"name": "describe", "arguments": []}):
                with self.subTest(params):
                    self.assertEqual((await client.request("tools/call", params))["error"]["code"], -32602)
            self.assertEqual((await client.request("tools/run", {}))["error"]["code"], -32601)
            self.assertEqual((await client.request("resources/read", {"uri": "file:///etc/passwd"}))["error"]["code"], -32602)
            # It serves on.
            self.assertFalse((await client.request("tools/call", {"name": "describe_model", "arguments": {}}))["result"].get("isError"))
            self.assertEqual(await client.end(), 0)


@needs_mcp
class LossTests(unittest.IsolatedAsyncioTestCase):
    """A server that dies, one that is not there, and a live map."""

    async def test_a_server_that_dies_in_a_call_and_between_calls(self) -> None:
        with temporary() as folder:
            async with agent("--server", fake(folder)) as client:
                error = await refused(client, "call", method="test/die")
                self.assertEqual(error["kind"], "serverLost")
                self.assertIn("the next call starts an empty one", error["next"])
                # The next call has a new one.
                self.assertEqual((await told(client, "call", method="session/echo", params={"value": 1}))["result"]["value"], 1)
                self.assertEqual(len(Path(folder, "arguments").read_text().splitlines()), 2)

    async def test_a_real_server_that_is_killed(self) -> None:
        with temporary() as folder:
            # The script becomes the server: its process number is known.
            server = Path(script(folder, str(SERVER)))
            server.write_text(server.read_text().replace("exec", f"echo $$ > {folder}/pid\nexec"))
            async with agent("--server", str(server)) as client:
                await told(client, "open_file", path="cities.fgb")
                subprocess.run(["kill", "-9", Path(folder, "pid").read_text().strip()], check=True)
                # Either the call meets the death, or it has been noticed before: it is said once.
                self.assertEqual((await refused(client, "describe_model"))["kind"], "serverLost")
                self.assertEqual((await told(client, "describe_model"))["layers"], [])

    async def test_no_server(self) -> None:
        async with agent("--server", "/nowhere/geomodel-server") as client:
            self.assertEqual(len((await client.list_tools()).tools), 20)
            error = await refused(client, "describe_model")
            self.assertEqual(error["kind"], "serverNotFound")
            self.assertIn("install geomodel-server", error["next"])

    async def test_a_live_map(self) -> None:
        # What `geomodel-server --attach NAME` will do; here the fake server takes its place.
        with temporary() as folder:
            async with agent("--server", fake(folder), "--attach", "city") as client:
                await told(client, "call", method="session/echo")
                self.assertEqual(Path(folder, "arguments").read_text(), "--attach city\n")
                error = await refused(client, "call", method="test/die")
                self.assertIn("it attaches again", error["next"])
                await told(client, "call", method="session/echo")
                self.assertEqual(Path(folder, "arguments").read_text(), "--attach city\n" * 2)


if __name__ == "__main__":
    unittest.main()
