"""Notebooks in a real kernel: bars, pictures, interrupted cells, and the live outline, which a headless browser shows.

Skipped without nbclient, ipykernel and anywidget; what needs the browser, without a Chromium.
"""

from __future__ import annotations

import asyncio
import html
import importlib.util
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from browser import BROWSER
from support import ROOT, SERVER, child_environment

HAS_KERNEL = all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel", "anywidget"))
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


if __name__ == "__main__":
    unittest.main()
