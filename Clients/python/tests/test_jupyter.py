"""Notebooks: tables of results, progress bars, interrupted cells, and the live outline, in a real kernel and a headless browser.

The kernel's tests are skipped without nbclient, ipykernel and anywidget, the browser's without a Chromium.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import html
import importlib.util
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import child_environment, FAKE, needs_server, ROOT, SERVER

import geomodel
from geomodel._outline import nodes_of
from geomodel._results import Result

HAS_KERNEL = all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel", "anywidget"))
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)

START = f"""import geomodel
server = geomodel.launch_sync({SERVER!r}, root_path={str(ROOT / "Tests" / "Fixtures")!r})
server.map.create(id="m1", title="World")
server.view.create(id="v1", map="m1")
server.overlay.create(id="o1", view="v1")
"""
# A query that takes far longer than anybody waits, on any server, and one that takes about a second.
SLOW = """
count = 50_000
server.overlay.add_columns(overlay="o1", x=[8.5] * count, y=[47.3] * count, attributes={"at": [f"Old Gate Lane {n}" for n in range(count)]})
def clause(n):
    return {"op": "or", "args": [{"op": "like", "args": [{"property": "at"}, f"%G%t%n%{n}x%"]} for n in range(n)]}
"""
COUNT = "server.feature.query_count(overlay='o1', where_clause=clause(1000))"
STATUS = """
working = 1
print(server.task.list())
while working:
    status = server.session.status()
    working = status["tasks"]["working"]
print(status["tasks"]["running"])
"""
# The page is what a front end does with a widget: a model with the state, and the module's `render`.
PAGE = """<!doctype html><style>{css}</style><div id="out"></div><script type="module">
const states = {states}, listeners = {{}};
let state = states[0];
const model = {{get: (name) => state[name], on: (name, call) => (listeners[name] = call), off: (name) => delete listeners[name]}};
const made = await import(URL.createObjectURL(new Blob([{esm}], {{type: "text/javascript"}})));
const el = document.querySelector("#out");
const end = made.default.render({{model, el}});
const seen = [el.innerText];
const map = [...el.querySelectorAll("details")].find((each) => each.innerText.includes("World"));
const folded = new Promise((done) => map.addEventListener("toggle", done));
map.querySelector("summary").click();
await folded;
state = states[1];
listeners["change:nodes"]();
seen.push(el.innerText);
const again = [...el.querySelectorAll("details")].find((each) => each.innerText.includes("World"));
seen.push(again.open, el.querySelectorAll("img").length);
again.open = true;
seen.push(el.innerText);
end();
seen.push(Object.keys(listeners).length);
document.body.dataset.seen = JSON.stringify(seen);
</script>"""


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


@unittest.skipIf(SERVER is None or not HAS_KERNEL, "no server was built, or no nbclient, ipykernel and anywidget")
class KernelTests(unittest.TestCase):
    def executed(self, *cells: str, interrupts: bool = False) -> tuple[Any, list[dict[str, Any]]]:
        """The notebook after its cells have run, and all that they showed meanwhile; the first bar is interrupted if asked."""
        import nbclient
        import nbformat

        shown: list[dict[str, Any]] = []

        class Notebook(nbclient.NotebookClient):  # type: ignore[misc, unused-ignore]
            def process_message(self, message: Any, cell: Any, cell_index: int) -> Any:
                if message["msg_type"] in ("display_data", "update_display_data"):
                    shown.append({"cell": cell_index, **message["content"]["data"]})
                    if interrupts and sum(each["cell"] == 1 for each in shown) == 1 and cell_index == 1:
                        self.interrupting = asyncio.ensure_future(self.km.interrupt_kernel())
                return super().process_message(message, cell, cell_index)

        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        with mock.patch.dict("os.environ", child_environment()):
            Notebook(made, timeout=120, allow_errors=True, kernel_name="python3").execute(stderr=subprocess.DEVNULL)
        return made, shown

    def outputs(self, cell: Any) -> list[str]:
        return [each.get("ename") or each.get("text") or each["data"]["text/plain"] for each in cell.outputs]

    def test_a_notebook_shows_tables_and_a_bar_that_is_updated_in_place(self) -> None:
        made, shown = self.executed(
            START + SLOW, "for _ in range(2):\n    server.feature.query_count(overlay='o1', where_clause=clause(400))",
            "server.options(progress=False).feature.query_count(overlay='o1', where_clause=clause(400))", "server.session.status()",
        )
        bars = [each["text/plain"] for each in shown if each["cell"] == 1]
        self.assertRegex(bars[0], r"^feature/queryCount: \d+ %$")
        self.assertRegex(bars[-1], r"^feature/queryCount: \d+\.\d s$")
        self.assertIn('<progress max="100" value="', next(each["text/html"] for each in shown if each["cell"] == 1))
        # Both calls have one output, which says how long the last took.
        self.assertEqual(self.outputs(made.cells[1]), [bars[-1]])
        self.assertEqual([each for each in shown if each["cell"] == 2], [])
        self.assertIn("<b>session/status</b>", made.cells[3].outputs[0]["data"]["text/html"])

    def test_a_notebook_shows_pictures_and_a_loop_that_runs_is_no_obstacle(self) -> None:
        awaiting = "\n".join(("other = await geomodel.launch(" + repr(SERVER) + ")", "await other.map.create(id='m1')",
                              "await other.view.create(id='v1', map='m1', width=64, height=48)", "await other.view.render(view='v1')"))
        made, _ = self.executed(START, "server.view.get(view='v1')", "server.view.render(view='v1', format='svg')", awaiting, "await other.view.get(view='v1')")
        forms = [sorted(cell.outputs[-1]["data"]) for cell in made.cells[1:]]
        self.assertEqual(forms, [
            ["image/png", "text/html", "text/plain"], ["image/svg+xml", "text/plain"], ["image/png", "text/plain"], ["text/html", "text/plain"],
        ])

    def test_an_interrupted_cell_cancels_its_request(self) -> None:
        made, shown = self.executed(START + SLOW, COUNT, STATUS, interrupts=True)
        self.assertEqual(self.outputs(made.cells[1])[1:], ["KeyboardInterrupt"])
        self.assertRegex(shown[-1]["text/plain"], r"^feature/queryCount: interrupted after \d+\.\d s$")
        self.assertEqual("".join(self.outputs(made.cells[2])), "{'tasks': []}\n0\n")

    def test_an_interrupted_cell_that_awaits_cancels_its_request(self) -> None:
        start = START.replace("= geomodel.launch_sync(", "= await geomodel.launch(")
        made, shown = self.executed(
            *(cell.replace("server.", "await server.") for cell in (start + SLOW, COUNT, STATUS)),
            interrupts=True,
        )
        self.assertIn(self.outputs(made.cells[1])[1:], (["CancelledError"], ["KeyboardInterrupt"]))
        self.assertRegex(shown[-1]["text/plain"], r"^feature/queryCount: interrupted after \d+\.\d s$")
        self.assertEqual("".join(self.outputs(made.cells[2])), "{'tasks': []}\n0\n")

    def test_an_outline_follows_the_model_in_the_page(self) -> None:
        made, _ = self.executed(
            START + "outline = geomodel.outline(server)\noutline",
            """
import json, threading
first = outline.nodes
followed = threading.Event()
def follow(change):
    if "loaded" in str(change.new) and "untitled" in str(change.new) and "Hills" in str(change.new):
        followed.set()
outline.observe(follow, "nodes")
server.source.open(id="w", path="naturalearth_110m.gpkg")
server.layer.add(map="m1", source="w", source_layer="cities", id="l1", name="<img src=x>")
server.layer.load(layer="l1")
server.map.create(id="m2", title="Hills")
followed.wait(30)""",
            "print(json.dumps([first, outline.nodes]))\nprint(server.session.status()['model']['subscriptions'])",
            "outline",
        )
        printed = "".join(self.outputs(made.cells[2])).splitlines()
        first, last = json.loads(printed[0])
        self.assertEqual(printed[1], "1")
        self.assertIn("application/vnd.jupyter.widget-view+json", made.cells[0].outputs[0]["data"])
        # Without widgets it is a text.
        self.assertIn("\n  layer <img src=x>  243 features, loaded\n", made.cells[3].outputs[0]["data"]["text/plain"])
        kept = made.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
        state = next(each["state"] for each in kept if "_esm" in each["state"])
        self.assertEqual(state["nodes"], last)
        self.check_in_browser(state, first)

    def test_an_outline_shows_who_joins_edits_and_leaves_and_its_own_end(self) -> None:
        with tempfile.TemporaryDirectory(prefix="gm") as folder:
            env = {"XDG_RUNTIME_DIR": folder}
            try:
                made, _ = self.executed(f"""
import geomodel, threading
def joined(name):
    return geomodel.launch_sync([{SERVER!r}, "--attach", "t"], env={env!r}, client_name=name)
first = joined("notebook")
outline = geomodel.outline(first)
def until(text, name="nodes", holds=True):
    reached = threading.Event()
    def look(_=None):
        if (text in repr(getattr(outline, name))) is holds:
            reached.set()
    outline.observe(look, name)
    look()
    return reached.wait(30)
second = joined("panel")
seen = [until("panel")]
second.edit.begin(name="Move")
seen.append(until("edits"))
second.map.create(id="Hills")
seen.append(until("Hills"))
second.edit.cancel()
seen.append(until("Hills", holds=False))
second.close()
seen.append(until("panel", holds=False))
print(outline)
first.close()
seen.append(until("closed", "ended"))
print(seen)""")
            finally:
                subprocess.run([str(SERVER), "--stop", "t"], env={**child_environment(), **env}, capture_output=True, timeout=60)
        self.assertEqual(self.outputs(made.cells[0]), [f"document untitled  saved\nclient notebook\n{[True] * 6}\n"])

    def check_in_browser(self, state: dict[str, Any], first: Any) -> None:
        """The widget of the executed notebook, drawn from its own state."""
        if BROWSER is None:
            self.skipTest("no Chromium")
        states = [{"nodes": first, "ended": ""}, {"nodes": state["nodes"], "ended": state["ended"]}]
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            inside = (json.dumps(each).replace("<", "\\u003c") for each in (states, state["_esm"]))
            page.write_text(PAGE.format(css=state["_css"], states=next(inside), esm=next(inside)), encoding="utf-8")
            done = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--virtual-time-budget=10000",
                 "--dump-dom", page.as_uri()],
                capture_output=True, text=True, timeout=60,
            )
        found = re.search(r'data-seen="([^"]*)"', done.stdout)
        self.assertIsNotNone(found, done.stdout[-2000:] + done.stderr[-2000:])
        assert found is not None
        before, folded, is_open, images, after, listeners = json.loads(html.unescape(found[1]))
        self.assertIn("map World", " ".join(before.split()))
        self.assertNotIn("<img", before)
        self.assertIn("overlay o1 0 graphics", " ".join(before.split()))
        # What was folded stays folded when the model changes, and names are no markup.
        self.assertEqual((is_open, images, listeners), (False, 0, 0))
        self.assertNotIn("<img src=x>", folded)
        self.assertIn("map Hills", " ".join(folded.split()))
        self.assertIn("layer <img src=x> 243 features, loaded", " ".join(after.split()))


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
