"""One random session: requests in bursts, and between them checks of everything that can be checked."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

from geomodel._replica import Replica

from generate import Generator
from wire import Broken, Wire

_PATTERNS = [
    [""], ["/views"], ["/overlays", "/maps"], ["/views/*/viewpoint"], ["/overlays/*/graphicCount"], ["/layers/*"], ["/overlays/*/graphics"],
    ["/overlays/*/graphics/*"], ["/maps/*/operationalLayers"], ["/*/*/name"], ["/viewModels", "/bindings"], ["/environments/*/values"],
    ["/scenes/*"], ["/links", "/edit"], ["/document"], ["/views/*/*"], ["/sources/*", "/locationSources/*"],
]  # fmt: skip
# What undo restores, but for what is derived of features and of who runs.
_UNDONE = {
    "maps": ["loadStatus"], "scenes": ["loadStatus"], "overlays": ["selectedCount"],
    "layers": ["loadStatus", "featureCount", "extent", "selectedCount"],
}  # fmt: skip
# More resident bytes than at the start, once everything is closed, are a leak.
_GROWTH = 300 << 20
# One in reserve, two idle, and those that hold rasters.
_READERS = 12


class Session:
    def __init__(self, definition: dict[str, Any], wire: Wire, folder: Path, rng: random.Random, pattern: str) -> None:
        self.wire, self.rng, self.folder = wire, rng, folder
        self.generator = Generator(definition, rng, pattern)

    def run(self, bursts: int) -> None:
        wire = self.wire
        wire.result("initialize", {"rootPath": str(self.folder), "strict": self.rng.random() < 0.5})
        wire.notify("initialized", {})
        start = wire.resident()
        wire.result("clock/set", {"mode": "manual"})
        self.furnish()
        for _ in range(bursts):
            self.burst()
            self.settle()
            self.check_replicas()
            self.rng.choice([self.undo_and_redo, self.save_and_open, self.save_and_open, lambda: None])()
            self.check_replicas()
            if not self.generator.objects.get("maps"):
                self.furnish()
        self.settle()
        self.close_everything()
        if (grown := wire.resident() - start) > _GROWTH:
            raise Broken(f"{grown >> 20} MiB more than at the start")
        wire.result("shutdown", {})
        wire.notify("exit", None)
        wire.end()

    def furnish(self) -> None:
        """Something of everything, so that requests find what they are about. What is refused is there already, or not needed."""
        id = self.generator.new_id
        map, view, scene, overlay, source = id(), id(), id(), id(), id()
        model = id()
        for method, params in [
            ("map/create", {"id": map, "title": "m"}), ("view/create", {"id": view, "map": map}), ("scene/create", {"id": scene}),
            ("view/create", {"id": id(), "scene": scene}), ("overlay/create", {"id": overlay, "view": view}),
            ("overlay/addGraphics", {"overlay": overlay, "graphics": [self.generator._Graphic("") for _ in range(8)]}),
            ("source/open", {"id": source, "path": self.rng.choice(["cities.fgb", "naturalearth_110m.gpkg", "types.gpkg"])}),
            ("source/openInline", {"id": source + "i", "data": self.generator.inline()}),
            ("layer/add", {"map": map, "source": source, "id": id()}), ("layer/add", {"map": map, "source": source + "i", "id": id()}),
            ("layer/addGroup", {"map": map, "id": id()}), ("layer/load", {"map": map}),
            ("viewModel/create", {"id": model, "properties": [
                {"name": "count", "type": "integer"}, {"name": "items", "type": "list"}, {"name": "table", "type": "dictionary"},
                {"name": "target", "type": "reference"}, {"name": "total", "type": "number", "derived": {"expression": "count * 10"}},
            ]}),
            ("binding/create", {"id": id(), "path": f"/viewModels/{model}/count"}),
            ("location/createSimulated", {"id": id(), "line": {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}, "spatialReference": "EPSG:4326"}),
        ]:  # fmt: skip
            self.wire.call(method, params)
        self.look()

    def look(self) -> dict[str, Any]:
        """The whole state, by which requests name objects."""
        state: dict[str, Any] = self.wire.result("state/get", {"path": ""})["values"][0]["value"]
        self.generator.objects = {
            name: [id for id in held if id != "$session"] for name, held in state.items() if isinstance(held, dict)
        }
        return state

    def burst(self) -> None:
        """Requests without waiting, some of them damaged or cancelled; sometimes nothing is read meanwhile."""
        rng, wire = self.rng, self.wire
        is_slow = rng.random() < 0.15
        wire.read_slowly(is_slow)
        for _ in range(rng.choice([5, 20, 60, 150])):
            if is_slow and rng.random() < 0.2:
                self.flood()
            kind = rng.random()
            if kind < 0.03:
                method, params = self.generator.request()
                body = {"jsonrpc": "2.0", "id": f"damaged{rng.random()}", "method": method, "params": params}
                # Two answers at the most: bytes that became a line end make two lines.
                wire.damaged += 2
                wire.write_body(self.generator.damaged(json.dumps(body).encode()))
            elif kind < 0.07:
                wire.notify("$/cancelRequest", {"id": json.loads(rng.choice(wire.recent))})
            elif kind < 0.1:
                wire.send("state/observe", {"paths": rng.choice(_PATTERNS), **rng.choice([{}, {}, {"edits": "deferred"}])})
            elif kind < 0.12 and wire.observed:
                handle = rng.choice(list(wire.observed))
                wire.send("state/unobserve", {"subscription": handle})
                del wire.observed[handle]
            elif kind < 0.2:
                wire.send("clock/advance", {"seconds": rng.choice([0, 0.1, 1, 10])})
            elif kind < 0.3:
                wire.send("model/apply", {"commands": [self.generator._Command("") for _ in range(rng.randint(1, 6))]})
            else:
                wire.send(*self.generator.request())
            if rng.random() < 0.3 and not is_slow:
                wire.pump()
        wire.read_slowly(False)

    def flood(self) -> None:
        """Changes that are more than the pipe holds, taken back: whoever observes them without reading is resynchronized."""
        overlay = self.generator.id("overlay")
        column = {"type": "float64", "data": "AAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhA" * 1000}
        self.wire.send("overlay/addColumns", {"overlay": overlay, "x": column, "y": column})
        self.wire.send("overlay/removeGraphics", {"overlay": overlay, "all": True})

    def settle(self) -> None:
        """Waits until everything is answered, nothing moves and nobody edits."""
        wire = self.wire
        wire.call("clock/set", {"mode": "manual"})
        wire.call("clock/advance", {"seconds": 60})
        for id in list(wire.pending):
            wire.notify("$/cancelRequest", {"id": json.loads(id)})
        while wire.pending:
            wire.pump(until=next(iter(wire.pending)))
        # What cancelled requests leave to be done is done, and what a damaged one may have started.
        deadline = time.monotonic() + wire.patience
        while any(wire.result("session/status", {})["tasks"][kind] for kind in ("running", "working")):
            if time.monotonic() > deadline:
                raise Broken("cancelled work does not end")
            # No notification says that a worker is idle.
            time.sleep(0.01)
        wire.call("edit/end", {})
        wire.result("clock/set", {"mode": "manual"})
        self.look()
        if len(readers := wire.readers()) > _READERS:
            raise Broken(f"{len(readers)} readers live")

    # Checks

    def check_replicas(self) -> None:
        for observed in list(self.wire.observed.values()):
            if not observed.is_whole or not observed.is_complete:
                continue
            values = [value for path in observed.paths for value in self.wire.result("state/get", {"path": path})["values"]]
            self.wire.pump()
            expected = Replica()
            expected.place(values)
            difference = _difference(expected.root, observed.replica.root)
            if difference:
                raise Broken(f"the replica of {observed.paths} is not the state, at {difference}")

    def undo_and_redo(self) -> None:
        """Undoes all steps, or the last ones, and redoes them, twice."""
        wire = self.wire
        before, ground = self.undone(), None
        redone_before = len(wire.result("edit/history", {})["redo"])
        most = self.rng.choice([5, 100_000])
        for _ in range(2):
            steps = 0
            while steps < most and wire.result("edit/history", {})["canUndo"]:
                wire.result("edit/undo", {})
                steps += 1
            if ground is not None and (difference := _difference(ground, self.undone())):
                raise Broken(f"{steps} steps undone twice give another model, at {difference}")
            ground = self.undone()
            # With a map its views are closed, which is not undone: steps in them are dropped.
            if len(wire.result("edit/history", {})["redo"]) != redone_before + steps:
                return
            for _ in range(steps):
                wire.result("edit/redo", {})
            if difference := _difference(before, self.undone()):
                raise Broken(f"{steps} steps undone and redone give another model, at {difference}")

    def undone(self) -> Any:
        state = self.look()
        return {
            name: {id: {key: value for key, value in held.items() if key not in derived} for id, held in state[name].items()}
            for name, derived in _UNDONE.items()
        }

    def save_and_open(self) -> None:
        """What is saved opens, and is then saved as the same bytes."""
        wire = self.wire
        first, second = self.folder / "first.json", self.folder / "second.json"
        answer = wire.call("document/saveAs", {"path": str(first)})
        if "error" in answer:
            if answer["error"]["data"]["kind"] != "documentTooLarge":
                raise Broken(f"saving: {json.dumps(answer['error'])[:600]}")
            return
        opened = wire.call("document/open", {"path": str(first)})
        if "error" in opened:
            raise Broken(f"what was saved does not open: {json.dumps(opened['error'])[:600]}")
        if opened["result"].get("problems"):
            raise Broken(f"what was saved has problems: {json.dumps(opened['result'])[:600]}")
        wire.result("document/saveAs", {"path": str(second)})
        if first.read_bytes() != second.read_bytes():
            raise Broken(f"opened and saved again it differs: {_line(first.read_text(), second.read_text())}")
        self.look()

    def close_everything(self) -> None:
        wire = self.wire
        for handle in list(wire.observed):
            if handle not in wire.observed:
                continue
            wire.result("state/unobserve", {"subscription": handle})
            wire.observed.pop(handle, None)
        wire.result("document/new", {})


def _line(first: str, second: str) -> str:
    for number, (one, other) in enumerate(zip(first.split("\n"), second.split("\n")), 1):
        if one != other:
            return f"line {number}: {one[:300]!r}, then {other[:300]!r}"
    return "in length"


def _difference(expected: Any, found: Any, path: str = "") -> str | None:
    """Where two values differ first; an object without members is as good as none."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            there = _difference(expected.get(key, {}), found.get(key, {}), f"{path}/{key}")
            if there:
                return there
        return None
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return next((d for n, pair in enumerate(zip(expected, found)) if (d := _difference(*pair, f"{path}/{n}"))), None)
    if type(expected) is bool or type(found) is bool:
        return None if expected is found else f"{path}: {expected!r}, {found!r}"
    return None if expected == found else f"{path}: {str(expected)[:300]}, found {str(found)[:300]}"
