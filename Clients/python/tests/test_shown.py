"""What notebooks show without a kernel: tables and pictures of results, bars, and the outline."""

from __future__ import annotations

import asyncio
import base64
import copy
import importlib.util
import io
import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

from support import FAKE, ROOT, SERVER, child_environment, needs_server

import geomodel
from geomodel._outline import nodes_of
from geomodel._results import Result


def text_of(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", markup).split())


@needs_server
class TableTests(unittest.TestCase):
    def setUp(self) -> None:
        self.server = geomodel.launch_sync(SERVER, root_path=ROOT / "Tests" / "Fixtures")
        self.addCleanup(self.server.close)
        self.server.map.create(id="m1", title="World")

    def markup(self, result: Any) -> str:
        return str(result._repr_html_())

    def test_a_layer_is_a_row_for_each_member_and_a_table_of_its_fields(self) -> None:
        self.server.source.open(id="w", path="naturalearth_110m.gpkg")
        self.server.layer.add(map="m1", source="w", source_layer="countries", id="l1")
        shown = self.markup(self.server.layer.get(layer="l1"))
        self.assertIn("<b>Layer</b>", shown)
        self.assertIn("sourceLayer countries", text_of(shown))
        self.assertIn("loadStatus notLoaded", text_of(shown))
        self.assertIn("extent xMin -180.0, yMin -90.0, xMax 180.0, yMax 83.64513", text_of(shown))
        self.assertIn("fields name type pop_est double", text_of(shown))
        self.assertRegex(shown, r'<th [^>]*title="0 transparent, 1 opaque\. \(in 0\.\.\.1\)">opacity</th><td[^>]*>1\.0</td>')

    def test_a_list_of_layers_is_a_row_for_each(self) -> None:
        self.server.source.open(id="w", path="naturalearth_110m.gpkg")
        for name in ("cities", "countries"):
            self.server.layer.add(map="m1", source="w", source_layer=name, id=name)
        shown = self.markup(self.server.layer.list())
        self.assertEqual(shown.count("<tr>"), 3)
        self.assertIn("<td>pop_est, continent, name, iso_a3, gdp_md_est</td>", shown)

    def test_a_view_model_has_its_values_beside_their_definitions(self) -> None:
        properties: list[Any] = [{"name": "right", "type": "integer"}, {"name": "of", "type": "string", "defaultValue": "<b>"}]
        self.server.view_model.create(id="quiz", properties=properties, values={"right": 3})
        shown = self.markup(self.server.view_model.get(view_model="quiz"))
        self.assertRegex(shown, r"<th[^>]*>name</th><th>value</th><th[^>]*>type</th>")
        self.assertIn("<td>right</td><td>3</td><td>integer</td>", shown)
        self.assertIn("<td>&lt;b&gt;</td>", shown)
        self.assertNotIn("<b>\"", shown)
        self.assertIn("quiz", text_of(self.markup(self.server.view_model.list())))

    def test_a_status_is_a_table_that_says_what_its_numbers_are(self) -> None:
        shown = self.markup(self.server.session.status())
        self.assertIn("<b>session/status</b>", shown)
        self.assertRegex(text_of(shown), r"tasks running 0, working 0, started \d+")
        self.assertRegex(shown, r'title="Resident memory[^"]*\(byte\)">residentBytes</th><td[^>]*>\d+</td>')


@needs_server
class PictureTests(unittest.TestCase):
    def setUp(self) -> None:
        self.server = geomodel.launch_sync(SERVER, root_path=ROOT / "Tests" / "Fixtures")
        self.addCleanup(self.server.close)
        self.server.map.create(id="m1")
        self.server.source.open(id="w", path="naturalearth_110m.gpkg")
        self.server.layer.add(map="m1", source="w", source_layer="countries", id="l1")
        self.server.layer.load(layer="l1")
        self.server.view.create(id="v1", map="m1", width=320, height=240)

    def size(self, result: Any) -> tuple[int, int]:
        """The size of the picture that a notebook shows of a result, in its markup as well."""
        shown = result._repr_mimebundle_()
        png = base64.b64decode(shown["image/png"])
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn(shown["image/png"], shown["text/html"])
        self.assertIn("<table>", shown["text/html"])
        width, height = struct.unpack(">II", png[16:24])
        return width, height

    def test_a_view_a_layer_an_overlay_and_what_was_found_are_pictures_above_their_tables(self) -> None:
        self.server.overlay.create(id="o1", view="v1")
        self.server.overlay.add_graphics(overlay="o1", graphics=[{"geometry": {"type": "Point", "coordinates": [8, 47]}}])
        self.assertEqual(self.size(self.server.view.get(view="v1")), (320, 240))
        self.assertEqual(self.size(self.server.layer.get(layer="l1")), (640, 309))
        self.assertEqual(self.size(self.server.overlay.get(overlay="o1")), (640, 480))
        self.assertEqual(self.size(self.server.feature.query(layer="l1", where_clause="name = 'Chad'")), (640, 480))
        columns = self.server.feature.query(layer="l1", where_clause="name = 'Chad'", format="columns")
        self.assertEqual(self.size(columns), (640, 480))

    def test_a_picture_is_of_the_moment_when_it_is_shown_and_has_exactly_what_was_found(self) -> None:
        view = self.server.view.get(view="v1")
        before = view._repr_png_()
        red: Any = {"type": "simple", "symbol": {"type": "simpleFill", "color": "#FF0000"}}
        self.server.layer.update(layer="l1", renderer=red)
        self.assertNotEqual(view._repr_png_(), before)
        first, all_ = (self.server.feature.query(layer="l1", limit=limit) for limit in (1, 1000))
        self.assertNotEqual(first._repr_png_(), all_._repr_png_())

    def test_what_cannot_be_drawn_is_a_table(self) -> None:
        view = self.server.view.get(view="v1")
        found = self.server.feature.query(layer="l1", limit=2, return_geometry=False)
        self.server.view.close(view="v1")
        self.server.layer.add(map="m1", source="w", source_layer="cities", id="l2")
        for result in (view, found, self.server.layer.get(layer="l2"), self.server.session.status(), copy.deepcopy(view)):
            self.assertEqual(list(result._repr_mimebundle_()), ["text/html"])
            self.assertIsNone(result._repr_png_())

    def test_what_render_answers_is_the_picture_alone(self) -> None:
        png = self.server.view.render(view="v1")
        self.assertEqual(png._repr_mimebundle_(), {"image/png": png["picture"]["data"]})
        self.assertEqual(geomodel.picture_bytes(png), base64.b64decode(png._repr_png_()))
        self.assertIsNone(png._repr_html_())
        svg = self.server.view.render(view="v1", format="svg")
        self.assertIn("<svg", svg._repr_svg_())
        self.assertIsNone(svg._repr_png_())
        self.assertEqual(list(self.server.layer.render(layer="l1", format="pdf")._repr_mimebundle_()), ["application/pdf"])
        with tempfile.TemporaryDirectory() as folder:
            written = self.server.view.render(view="v1", path=f"{folder}/map.png")
            self.assertEqual(geomodel.picture_bytes(written), geomodel.picture_bytes(png))
            self.assertIn("<table>", written._repr_html_())
        with self.assertRaisesRegex(ValueError, "no picture"):
            geomodel.picture_bytes(self.server.view.get(view="v1"))

    def test_a_picture_inside_a_running_loop(self) -> None:
        async def shown() -> tuple[int, int]:
            return self.size(self.server.view.get(view="v1"))

        self.assertEqual(asyncio.run(shown()), (320, 240))


class ExampleTests(unittest.TestCase):
    def test_the_result_of_each_method_is_a_table_with_all_its_members(self) -> None:
        methods = json.loads((ROOT / "Protocol" / "openrpc.json").read_text(encoding="utf-8"))["methods"]
        self.assertGreater(len(methods), 200)
        for method in methods:
            result = method["examples"][0]["result"]["value"]
            if isinstance(result, dict):
                with self.subTest(method["name"]):
                    shown = Result(result, method["name"])._repr_html_()
                    # A list with little beside it needs no name.
                    left_out = [name for name in result if name not in shown]
                    self.assertLessEqual([type(result[name]) for name in left_out], [list])
                    self.assertEqual(shown.count("<table>"), shown.count("</table>"))
                    self.assertIn("<b>", shown if "/" in method["name"] else "<b>")


class BarTests(unittest.TestCase):
    def test_nothing_of_notebooks_is_imported_before_it_is_used(self) -> None:
        script = (
            "import sys, geomodel\n"
            "geomodel.outline, geomodel.launch_sync\n"
            "print(sorted({'IPython', 'anywidget', 'traitlets', 'geomodel._tables'} & sys.modules.keys()))"
        )
        done = subprocess.run([sys.executable, "-c", script], env=child_environment(), capture_output=True, text=True)
        self.assertEqual(done.stdout, "[]\n", done.stderr)

    def test_a_terminal_has_a_bar_if_asked(self) -> None:
        terminal = io.StringIO()
        with geomodel.launch_sync(FAKE) as server, mock.patch.object(sys, "stderr", terminal):
            with mock.patch.object(terminal, "isatty", lambda: True):
                server.call("test/slow", {"seconds": 0.6})
                server.options(progress=False).call("test/slow", {"seconds": 0.6})
                self.assertEqual(terminal.getvalue(), "")
                server.options(progress="bar").call("test/slow", {"seconds": 0.6})
        self.assertRegex(terminal.getvalue(), r"test/slow \[[#.]{24}\] +\d+ %")
        self.assertTrue(terminal.getvalue().endswith("\r\x1b[K"))


class OutlineTests(unittest.TestCase):
    def nodes(self, **state: Any) -> str:
        def lines(nodes: Any, indent: str) -> Any:
            for node in nodes:
                yield f"{indent}{node['kind']} {node['label']} {node['detail']}".rstrip()
                yield from lines(node["children"], indent + " ")

        return "\n".join(lines(nodes_of(state), ""))

    def test_layers_are_in_the_order_of_a_table_of_contents(self) -> None:
        layer = {"isVisible": True, "loadStatus": {"type": "loaded"}}
        made = self.nodes(
            document={"path": "/a/b.json", "recovery": None, "isModified": True},
            maps={"m1": {"title": None, "operationalLayers": ["l1", "g1"], "tables": ["t1"], "basemap": {"baseLayers": ["b1"], "referenceLayers": []}}, "old": {}},
            layers={
                "l1": {**layer, "name": "Roads", "featureCount": 1, "selectedCount": 1}, "l2": {**layer, "name": "In"}, "b1": layer,
                "g1": {**layer, "name": "Both", "layers": ["l2"]}, "t1": {"loadStatus": {"type": "failed", "error": {"message": "No such file."}}},
            },
            views={"v1": {"map": "m1", "overlays": ["o1"], "scale": 25000.4}, "v2": {}},
            overlays={"o1": {"name": None, "graphicCount": 2000}},
            clients={"c1": {"name": "panel", "isEditing": True, "isReadOnly": False, "view": "v1"}, "c2": {"name": None, "isReadOnly": True}},
        )
        self.assertEqual(made.splitlines(), [
            "document b.json modified", "map m1", " group Both loaded", "  layer In loaded", " layer Roads 1 feature, 1 selected, loaded",
            " base layer b1 loaded", " table t1 failed, No such file.", " view v1 1:25,000", "  overlay o1 2,000 graphics",
            "client panel edits, shows v1", "client c2 reads only",
        ])

    def test_an_outline_needs_its_package(self) -> None:
        if importlib.util.find_spec("anywidget") is None:
            with geomodel.launch_sync(FAKE) as server, self.assertRaisesRegex(ImportError, r"geomodel-server\[jupyter\]"):
                geomodel.outline(server)


if __name__ == "__main__":
    unittest.main()
