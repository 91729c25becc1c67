"""`geomodel mcp` with real agents: the packages `mcp` and `fastmcp` over stdio."""

from __future__ import annotations

import argparse
import asyncio
import base64
import importlib.util
import json
import re
import subprocess
import sys
import unittest
from typing import Any

from agent_support import BYTES, FIXTURES, agent, command, environment, needs_mcp, raw_agent, refused, text_of, told
from pixels import pixels
from support import ROOT, SOURCE, child_environment

from geomodel import mcp
from geomodel._generated.errors import KIND_TO_ERROR
from geomodel.mcp import _advice, _answers


class CommandTests(unittest.TestCase):
    """What works without the package `mcp`."""

    def test_without_the_package_it_says_what_to_install(self) -> None:
        # Without site-packages there is no mcp.
        ended = subprocess.run(
            [sys.executable, "-S", "-m", "geomodel.mcp"], env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True
        )
        self.assertEqual((ended.returncode, ended.stdout), (3, ""))
        self.assertIn("pip install 'geomodel-server[mcp]'", ended.stderr)

    def test_flags_of_its_own_server_do_not_go_with_a_live_map(self) -> None:
        ended = subprocess.run(command("--attach", "m", "--allow-dir", "."), env=child_environment(), capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("not with --attach", ended.stderr)

    def test_advice_is_for_kinds_that_there_are(self) -> None:
        own = {_advice.UNKNOWN_TOOL, _advice.INVALID_ARGUMENTS, _advice.NO_SERVER}
        self.assertEqual(_advice.NEXT.keys() - KIND_TO_ERROR.keys(), own)

    def test_the_configuration_of_each_agent_starts_it(self) -> None:
        pages = sorted(path for path in (ROOT / "Clients" / "agents").glob("*.md") if path.name != "README.md")
        self.assertEqual([page.stem for page in pages], ["claude-code", "codex-cli", "cursor", "gemini-cli", "vs-code"])
        parsed = argparse.ArgumentParser()
        mcp.define(parsed)
        for page in pages:
            with self.subTest(page.stem):
                text = page.read_text(encoding="utf-8")
                self.assertIn("Not tried", text)
                blocks = re.findall(r"```json\n(.*?)```", text, re.S)
                servers = [next(iter(json.loads(block).values()))["geomodel"] for block in blocks]
                # TOML's arrays of texts are JSON's.
                servers += [{"command": "geomodel", "args": json.loads(args)} for args in re.findall(r"^args = (.*)$", text, re.M)]
                words = [line.split(" -- ")[1].split() for line in text.splitlines() if " -- " in line]
                servers += [{"command": each[0], "args": each[1:]} for each in words]
                self.assertGreater(len(servers), 0)
                for server in servers:
                    self.assertEqual((server["command"], server["args"][0]), ("geomodel", "mcp"))
                    self.assertIsNotNone(parsed.parse_args(server["args"][1:]).root)

    def test_what_is_cut_fits_and_is_said(self) -> None:
        value = {"rows": [{"n": n, "text": "ä" * 90} for n in range(1000)], "count": 1000}
        cut, what = _answers.shortened(value, 5000)
        self.assertLessEqual(_answers.size_of(cut), 5000)
        self.assertGreater(_answers.size_of(cut), 4700)
        self.assertEqual(what, [f"/rows: {len(cut['rows'])} of 1000 items"])
        self.assertEqual(len(value["rows"]), 1000)
        cut, what = _answers.shortened({"a": {"b/c": "x" * 9000}}, 1000)
        self.assertEqual(what, [f"/a/b~1c: {len(cut['a']['b/c'])} of 9000 characters"])
        self.assertEqual(_answers.shortened([1, 2], 1000), ([1, 2], []))
        cut, what = _answers.shortened([[["x" * 50] * 400]], 1000)
        self.assertLessEqual(_answers.size_of(cut), 1000)
        self.assertEqual(_answers.shortened({str(n): n for n in range(1000)}, 100)[0], None)


@needs_mcp
class EraTests(unittest.IsolatedAsyncioTestCase):
    async def test_the_eras_by_hand(self) -> None:
        for version in ("2025-06-18", "2025-11-25"):
            with self.subTest(version):
                async with raw_agent() as client:
                    begun = await client.initialize(version)
                    self.assertEqual(begun["result"]["protocolVersion"], version)
                    self.assertEqual(begun["result"]["serverInfo"]["name"], "geomodel")
                    self.assertNotIn("logging", begun["result"]["capabilities"])
                    tools = (await client.request("tools/list", {}))["result"]["tools"]
                    self.assertTrue(all(tool["outputSchema"]["type"] == "object" for tool in tools))
                    opened = await client.request("tools/call", {"name": "open_file", "arguments": {"path": "cities.fgb"}})
                    self.assertEqual(opened["result"]["structuredContent"]["layers"][0]["count"], 243)
                    self.assertEqual(await client.end(), 0)

    async def test_the_stateless_era(self) -> None:
        async with agent(mode="2026-07-28") as client:
            self.assertEqual(client.protocol_version, "2026-07-28")
            # Handles are arguments: each request stands alone.
            opened = await told(client, "open_file", path="cities.fgb")
            found = await told(client, "query_features", layer=opened["layers"][0]["layer"], limit=1)
            self.assertEqual((found["count"], found["shown"]), (243, 1))

    async def test_an_older_era_of_the_package(self) -> None:
        async with agent(mode="legacy") as client:
            self.assertEqual(client.protocol_version, "2025-11-25")
            self.assertEqual((await told(client, "describe_model"))["maps"], [])

    @unittest.skipIf(importlib.util.find_spec("fastmcp") is None, "no fastmcp")
    async def test_fastmcp(self) -> None:
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport
        from fastmcp.exceptions import ToolError

        words = command()
        async with Client(StdioTransport(words[0], words[1:], env=environment(), cwd=str(FIXTURES))) as client:
            self.assertEqual(len(await client.list_tools()), 20)
            opened = await client.call_tool("open_file", {"path": "naturalearth_110m.gpkg"})
            self.assertEqual([layer["layer"] for layer in opened.structured_content["layers"]], ["cities", "countries"])
            found = await client.call_tool("query_features", {"layer": "countries", "where": "continent = 'Asia'", "limit": 2})
            self.assertEqual(found.structured_content["count"], 47)
            with self.assertRaisesRegex(ToolError, "unknownId: .*\nNext: call describe_model"):
                await client.call_tool("query_features", {"layer": "none"})
            read = await client.read_resource("geomodel:///layers/countries/name")
            self.assertEqual(json.loads(read[0].text), "countries")


@needs_mcp
class ToolTests(unittest.IsolatedAsyncioTestCase):
    async def test_the_list_is_one_that_hosts_and_agents_bear(self) -> None:
        async with agent() as client:
            tools = (await client.list_tools()).tools
            self.assertEqual(len(tools), 20)
            # Some hosts refuse many tools, and every agent pays for the list with each question.
            self.assertLess(len(json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])), 36_000)
            for tool in tools:
                with self.subTest(tool.name):
                    self.assertTrue(tool.description and tool.output_schema and tool.annotations)
                    for name, schema in tool.input_schema.get("properties", {}).items():
                        self.assertNotIn("title", schema, name)
            read_only = {tool.name for tool in tools if tool.annotations.read_only_hint}
            self.assertEqual(read_only, {"describe_model", "describe_layer", "query_features", "statistics", "join", "describe"})

    async def test_answers_are_short_and_say_how_to_narrow(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="naturalearth_110m.gpkg")
            found = await told(client, "query_features", layer="cities")
            self.assertEqual((found["count"], found["shown"], len(found["rows"])), (243, 20, 20))
            self.assertTrue(found["more"].startswith("20 of 243 features are shown. The next begin at offset=20. To narrow: where"))
            last = await told(client, "query_features", layer="cities", offset=240)
            self.assertEqual((last["shown"], last.get("more")), (3, None))

    async def test_a_large_model_is_described_in_short(self) -> None:
        async with agent() as client:
            source = (await told(client, "open_file", path="cities.fgb"))["source"]
            added = [{"map": "map1", "source": source, "id": f"another.layer.{n}"} for n in range(300)]
            await asyncio.gather(*(told(client, "call", method="layer/add", params=params) for params in added))
            result = await client.call_tool("describe_model", {})
            self.assertLessEqual(len(text_of(result).encode()), BYTES)
            model = result.structured_content
            self.assertEqual((model["maps"][0]["map"], model["maps"][0]["layers_count"]), ("map1", 301))
            self.assertRegex(model["more"], r"Shown are [0-9]+ of 301 layers: call\('layer/list'")

    async def test_a_layer_of_very_many_fields(self) -> None:
        async with agent() as client:
            properties = {f"a field with a long name, number {n}": n for n in range(3000)}
            feature = {"type": "Feature", "properties": properties, "geometry": {"type": "Point", "coordinates": [1, 2]}}
            opened = await client.call_tool("add_features", {"name": "wide", "geojson": feature})
            described = await client.call_tool("describe_layer", {"layer": "wide"})
            for result in (opened, described):
                self.assertLessEqual(len(text_of(result).encode()), BYTES)
            self.assertEqual(opened.structured_content["layers"][0]["fields_count"], 3000)
            self.assertIn("of 3000 fields are named", described.structured_content["more"])
            found = await told(client, "query_features", layer="wide", fields=["a field with a long name, number 7"])
            self.assertEqual(found["rows"], [{"id": 0, "a field with a long name, number 7": 7}])

    async def test_a_hundred_calls_at_once(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="cities.fgb")
            found = await asyncio.gather(*(told(client, "query_features", layer="cities", offset=n, limit=1) for n in range(100)))
            self.assertEqual([each["rows"][0]["id"] for each in found], sorted({each["rows"][0]["id"] for each in found}))

    async def test_a_hundred_thousand_rows_are_asked_for(self) -> None:
        count = 100_000
        async with agent() as client:
            view = (await told(client, "set_viewpoint", scale=1e7))["view"]
            await told(client, "call", method="overlay/create", params={"view": view, "id": "points"})
            columns = {
                "overlay": "points",
                "x": [n / 1000 for n in range(count)],
                "y": [0] * count,
                "attributes": {"n": list(range(count))},
            }
            await told(client, "call", method="overlay/addColumns", params=columns)
            for arguments in ({"limit": count}, {"limit": count, "geometry": True}, {"limit": 10**9, "near": {"x": 0, "y": 0}}):
                with self.subTest(arguments):
                    result = await client.call_tool("query_features", {"layer": "points", **arguments})
                    self.assertLessEqual(len(text_of(result).encode()), BYTES)
                    content = result.structured_content
                    self.assertEqual(content["count"], count)
                    self.assertEqual(content["shown"], len(content["rows"]))
                    self.assertGreater(content["shown"], 100)
                    self.assertIn(f"{content['shown']} of {count} features are shown", content["more"])
            whole = await client.call_tool("call", {"method": "feature/query", "params": {"overlay": "points", "limit": count}})
            self.assertLessEqual(len(text_of(whole).encode()), BYTES)
            self.assertRegex(whole.structured_content["cut"][0], f"/features: [0-9]+ of {count} items")
            self.assertIn("limit", whole.structured_content["more"])

    async def test_one_row_that_is_too_long_is_cut(self) -> None:
        async with agent() as client:
            ring = [[n / 100, 0] for n in range(2000)] + [[10, 10], [0, 0]]
            feature = {"type": "Feature", "properties": {"text": "t" * 30_000}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
            await told(client, "add_features", name="large", geojson=feature)
            for arguments in ({}, {"geometry": True}):
                result = await client.call_tool("query_features", {"layer": "large", **arguments})
                self.assertLessEqual(len(text_of(result).encode()), BYTES)
                self.assertEqual(result.structured_content["shown"], 1)
                self.assertIn("The first row is too long and was cut", result.structured_content["more"])
            outline = await told(client, "query_features", layer="large", fields=[], geometry=True, simplify=0.5)
            self.assertEqual(len(outline["rows"][0]["geometry"]["coordinates"][0]), 4)

    async def test_every_method_can_be_described_in_short(self) -> None:
        async with agent() as client:
            domains = (await told(client, "describe"))["description"]["domains"]
            self.assertGreater(sum(domains.values()), 250)
            for name in ("feature", "layer/update", "feature/export", "Renderer", "expressions"):
                with self.subTest(name):
                    result = await client.call_tool("describe", {"name": name})
                    self.assertFalse(result.is_error)
                    self.assertLess(len(text_of(result)), BYTES)
            buffer = (await told(client, "describe", name="geometry/geodeticDistance"))["description"]
            self.assertEqual(buffer["params"]["other?"].partition(".")[0], "Geometry")
            self.assertEqual((await refused(client, "describe", name="layer/updat"))["kind"], "invalidArguments")

    async def test_a_picture_of_what_is_seen_fits_and_moves_nothing(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="naturalearth_110m.gpkg")
            view = (await told(client, "set_viewpoint", layer="countries", where="continent = 'Europe'"))["view"]
            for size, expected in (((800, 600), (800, 600)), ((4096, 2048), (1024, 512))):
                await told(client, "call", method="view/resize", params={"view": view, "width": size[0], "height": size[1]})
                before = await told(client, "call", method="view/getViewpoint", params={"view": view})
                result = await client.call_tool("set_viewpoint", {"picture": True})
                content, picture = result.structured_content, result.content[1]
                self.assertEqual(json.loads(text_of(result)), content)
                self.assertEqual((picture.type, picture.mime_type), ("image", "image/png"))
                self.assertLess(len(picture.data), 1_400_000)
                drawn = pixels(base64.b64decode(picture.data))
                self.assertEqual((drawn.width, drawn.height), expected)
                self.assertEqual((content["picture"]["width"], content["picture"]["height"]), expected)
                self.assertEqual(list(content["features"]), ["countries", "cities"])
                self.assertEqual(before["result"]["viewpoint"], content["viewpoint"])
            self.assertIn("a picture is no text", (await refused(client, "call", method="view/render", params={"view": view}))["message"])

    async def test_state_as_resources(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="naturalearth_110m.gpkg")
            await told(client, "set_viewpoint", layer="countries")
            listed = [resource.uri for resource in (await client.list_resources()).resources]
            self.assertEqual(
                listed,
                [
                    "geomodel:///maps/map1",
                    "geomodel:///views/view1",
                    "geomodel:///layers/cities",
                    "geomodel:///layers/countries",
                    "geomodel:///sources/source1",
                ],
            )
            templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
            self.assertIn("geomodel:///views/{id}", templates)
            self.assertIn("geomodel:///{+path}", templates)

            async def read(uri: str) -> Any:
                content = (await client.read_resource(uri)).contents[0]
                self.assertEqual(content.mime_type, "application/json")
                return json.loads(content.text)

            self.assertEqual((await read("geomodel:///layers/cities"))["featureCount"], 243)
            self.assertEqual((await read("geomodel:///views/view1/viewpoint"))["type"], "boundingGeometry")
            self.assertEqual(
                await read("geomodel:///layers/*/name"), {"/layers/cities/name": "cities", "/layers/countries/name": "countries"}
            )
            with self.assertRaisesRegex(Exception, "There is nothing at /layers/none"):
                await read("geomodel:///layers/none")
            with self.assertRaisesRegex(Exception, "invalidPath"):
                await read("geomodel:///layers/a*b")

    async def test_changes_of_resources_are_heard(self) -> None:
        async with agent() as client:
            await told(client, "open_file", path="cities.fgb")
            async with client.listen(resource_subscriptions=["geomodel:///layers/cities/name"]) as changes:
                await told(client, "update_layer", layer="cities", name="Towns")
                async for change in changes:
                    self.assertEqual(change.uri, "geomodel:///layers/cities/name")
                    break
            content = (await client.read_resource("geomodel:///layers/cities/name")).contents[0]
            self.assertEqual(content.text, '"Towns"')


if __name__ == "__main__":
    unittest.main()
