"""The runs that produce the figures of each group of measures, of the server and of its floor."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from programs import BUILD, HERE, ROOT, Failed, Figures, Skipped, all_processors, figures_of, output_of, progress


def needs_geopandas() -> None:
    if importlib.util.find_spec("geopandas") is None:
        raise Skipped("no geopandas in this Python")


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.floor = [str(BUILD / "server")]
        self.server = shlex.split(options.server) if options.server else self.floor
        self.agreed: dict[tuple[str, str], str] = {}

    def unless_floor(self, lack: str) -> None:
        if self.server == self.floor:
            raise Skipped(f"the C server {lack}")

    def drive(self, mode: str, side: str) -> str:
        command = self.floor if side == "floor" else self.server
        quick = ["--points", "100000", "--spawns", "10", "--requests", "20000"] if self.options.quick else []
        finish = ["--finish", "bench/index"] if command == self.floor else []
        file = ["--file", str(BUILD / "objects.json")] if mode == "open-stretch" else []
        return output_of([str(BUILD / "drive"), *quick, *finish, *file, mode, "--", *command])

    def unpinned(self, side: str) -> str:
        with all_processors():
            return self.drive("latency", side)

    def attached(self, side: str) -> str:
        self.unless_floor("is not shared")
        quick = ["--requests", "20000"] if self.options.quick else []
        command = self.server if side == "floor" else [*self.server, "--attach", "bench", "--linger", "0"]
        # Client, forwarder and server share the processors.
        with all_processors(), tempfile.TemporaryDirectory() as folder:
            return output_of([str(BUILD / "drive"), *quick, "latency", "--", *command], {"XDG_RUNTIME_DIR": folder})

    def observers(self, side: str) -> str:
        self.unless_floor("is not shared")
        return "" if side == "floor" else output_of([sys.executable, str(HERE / "sharing.py"), "--", *self.server])

    def columns(self, side: str) -> str:
        if side == "floor":
            return output_of([str(BUILD / "parse"), "columns", "100000" if self.options.quick else "1000000"])
        self.unless_floor("has no columns")
        return self.drive("load-columns", side)

    def filters(self, side: str) -> str:
        if side == "floor":
            return output_of([str(BUILD / "scan"), "100000" if self.options.quick else "1000000"])
        self.unless_floor("has no filters")
        return self.drive("filters", side)

    def document(self, side: str) -> str:
        path = BUILD / "document.json"
        self.unless_floor("has no documents")
        if side == "server":
            return self.save_and_open(path)
        if not path.exists():
            self.save_and_open(path)
        return output_of([str(BUILD / "parse"), "document", str(path)])

    def save_and_open(self, path: Path) -> str:
        """A document of 100,000 graphics with three attributes: saved, then opened in place of the model."""
        numbers = random.Random(42)
        count = 10_000 if self.options.quick else 100_000
        kinds = ["building", "junction", "landmark", "monument", "hospital", "airfield", "woodland", "vineyard"]
        with self.calling() as call:
            call("map/create", id="m1")
            call("view/create", id="v1", map="m1")
            call("overlay/create", id="o1", view="v1")
            for _ in range(0, count, 10_000):
                rows = range(10_000)
                call(
                    "overlay/addColumns", overlay="o1", x=[round(numbers.uniform(-180, 180), 7) for _ in rows],
                    y=[round(numbers.uniform(-90, 90), 7) for _ in rows],
                    attributes={
                        "name": [f"name{numbers.getrandbits(64):016x}" for _ in rows],
                        "kind": [numbers.choice(kinds) for _ in rows],
                        "rank": [numbers.randrange(10_000_000) for _ in rows]})
            save = call("document/saveAs", path=str(path))
            opened = call("document/open", path=str(path))
        return f"save_seconds {save}\nopen_seconds {opened}\ndocument_seconds {save + opened}"

    def file(self, side: str, ending: str = "gpkg") -> str:
        """A file of a million points with three fields: opened, then loaded into a layer."""
        path = self.file_of_points(ending)
        # The reader and the server work side by side, so neither side is kept to one processor.
        with all_processors():
            return output_of([str(BUILD / "features"), "read", str(path)]) if side == "floor" else self.load_file(path)

    @property
    def points(self) -> int:
        return 100_000 if self.options.quick else 1_000_000

    def file_of_points(self, ending: str) -> Path:
        path = BUILD / f"points.{ending}"
        mark = path.with_suffix(f".{ending}.count")
        if not path.exists() or not mark.exists() or mark.read_text() != str(self.points):
            output_of([str(BUILD / "features"), "make", str(path), str(self.points)])
            mark.write_text(str(self.points))
        return path

    def load_file(self, path: Path) -> str:
        self.unless_floor("reads no files")
        with self.calling() as call:
            call("map/create", id="m1")
            opened = call("source/open", id="s1", path=str(path))
            call("layer/add", map="m1", source="s1", id="l1")
            loaded = call("layer/load", layer="l1")
        return f"features_seconds {opened + loaded}\nopen_milliseconds {opened * 1000}"

    def export(self, side: str) -> str:
        """Points with three fields of a loaded layer to files: a million as GeoJSON, a tenth as GeoPackage, of which GDAL writes 70,000 a second."""
        self.unless_floor("writes no files")
        points = self.file_of_points("gpkg")
        files = {"gpkg": (BUILD / f"export-{side}.gpkg", self.points // 10), "geojson": (BUILD / f"export-{side}.geojson", self.points)}
        # The writer works beside the server, so neither side is kept to one processor.
        with all_processors():
            seconds = self.export_layer(points, files) if side == "server" else {
                ending: float(output_of([str(BUILD / "features"), "make", str(path), str(count)]).split()[1])
                for ending, (path, count) in files.items()}
        with contextlib.closing(sqlite3.connect(files["gpkg"][0])) as database:
            counts = {"gpkg": database.execute("SELECT count(*) FROM points").fetchone()[0]}
        counts["geojson"] = files["geojson"][0].read_bytes().count(b'"Feature"')
        for path, _ in files.values():
            path.unlink()
        return "\n".join(f"{ending}_seconds {seconds[ending]}\n{ending}_hits {counts[ending]}" for ending in files)

    def export_layer(self, points: Path, files: dict[str, tuple[Path, int]]) -> dict[str, float]:
        with self.calling() as call:
            call("map/create", id="m1")
            call("source/open", id="s1", path=str(points))
            call("layer/add", map="m1", source="s1", id="l1")
            call("layer/load", layer="l1")
            name = {"gpkg": {"layerName": "points"}, "geojson": {}}
            return {
                ending: call("feature/export", layer="l1", path=str(path), limit=count, ifExists="replace", **name[ending])
                for ending, (path, count) in files.items()}

    def frames(self, side: str) -> str:
        """GeoDataFrames of a million points and of 100,000 polygons into an overlay and out again, by the Python client."""
        self.unless_floor("has no columns of geometries")
        needs_geopandas()
        quick = ["--points", "100000", "--polygons", "10000"] if self.options.quick else []
        # Client and server work side by side.
        with all_processors():
            return "" if side == "floor" else output_of([sys.executable, str(HERE / "frames.py"), *quick, "--", *self.server])

    @contextlib.contextmanager
    def calling(self) -> Iterator[Callable[..., float]]:
        """The server, and a function that calls a method of it and returns the seconds until its answer."""
        with subprocess.Popen(self.server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin and process.stdout

            def call(method: str, **params: object) -> float:
                message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                data = json.dumps(message).encode() + b"\n"
                start = time.perf_counter()
                process.stdin.write(data)
                process.stdin.flush()
                answer = process.stdout.readline()
                seconds = time.perf_counter() - start
                if b'"error"' in answer[:200] or not answer:
                    raise Failed(f"{method}: {answer[:300].decode()}")
                return seconds

            call("initialize", protocolVersions=["0.7"])
            yield call
            process.stdin.close()

    def index(self, side: str) -> str:
        if side == "floor":
            return output_of([str(BUILD / "hilbert_rtree")])
        text = self.figures_of_tests("index")
        # The overlay of the other measures is filled in messages of 1,000, so that is the index to look at.
        pattern = r"^batch 1000 (build_seconds|microseconds_per_box) (\S+)(?: hits (\d+))?"
        found = re.findall(pattern, text, re.MULTILINE)
        if len(found) < 2:
            raise Skipped("the tests have no figures of the index")
        lines = [f"{key} {value}" for key, value, _ in found]
        return "\n".join(lines + [f"hits {hits}" for _, _, hits in found if hits])

    def nearest(self, side: str) -> str:
        """In the process: the 10 nearest to each of 1,000 places among a million points."""
        if side == "floor":
            return output_of([str(self.optional_program("nearest", "CXX", "nearest.cpp", "libboost-dev"))])
        return self.own_figures("nearest", side)

    def clusters(self, side: str) -> str:
        """In the process: a million points clustered for the zooms 16 to 0; tiles of clusters."""
        if side == "floor":
            return output_of([str(BUILD / "clusters")])
        return self.own_figures("clusters", side)

    def optional_program(self, name: str, compiler: str, source: str, package: str, *libraries: str) -> Path:
        """A floor that needs what few machines have."""
        program, path = BUILD / name, HERE / "floors" / source
        if not program.exists() or program.stat().st_mtime < path.stat().st_mtime:
            command = [*shlex.split(os.environ.get(compiler, "c++" if compiler == "CXX" else "cc")), "-O2", "-D_GNU_SOURCE"]
            try:
                done = subprocess.run([*command, "-o", str(program), str(path), *libraries], capture_output=True, text=True)
            except OSError:
                raise Skipped(f"no compiler for {source}") from None
            if done.returncode:
                raise Skipped(f"{source} does not compile (is {package} there?)")
        return program

    def join(self, side: str) -> str:
        """A million points joined to 100,000 polygons by `within`: GeoPandas's sjoin and `feature/join` over pipes, on all processors."""
        self.unless_floor("joins nothing")
        needs_geopandas()
        quick = ["--points", "100000", "--polygons", "10000"] if self.options.quick else []
        command = [sys.executable, str(HERE / "join.py"), *quick]
        with all_processors():
            return output_of(command if side == "floor" else [*command, "--", *self.server])

    def edits(self, side: str) -> str:
        return self.own_figures("edits", side)

    def reading(self, side: str) -> str:
        return self.own_figures("reading", side)

    def own_figures(self, what: str, side: str) -> str:
        """In the process, compared with itself or with a limit: there is no floor."""
        if side == "floor":
            return ""
        found = re.findall(rf"^{what} (\S+ \S+)$", self.figures_of_tests(what), re.MULTILINE)
        if not found:
            raise Skipped(f"the tests have no figures of {what}")
        return "\n".join(found)

    def figures_of_tests(self, what: str) -> str:
        return output_of(
            [str(self.test_binary()), "--testing-library", "swift-testing", "--filter", f"figures of (the )?{what}"],
            {"GEOMODEL_BENCH": "1"})

    def observe(self, side: str) -> str:
        return output_of([str(BUILD / "notify")]) if side == "floor" else self.subscribed("observe", side)

    def objects(self, mode: str, side: str) -> str:
        self.unless_floor("has no objects")
        # Documents are read by a worker beside the loop.
        with all_processors():
            return "" if side == "floor" else self.drive(mode, side)

    def transaction(self, side: str) -> str:
        self.unless_floor("has no transactions")
        return "" if side == "floor" else output_of([sys.executable, str(HERE / "transaction.py"), "--", *self.server])

    def motion(self, side: str) -> str:
        self.unless_floor("has nothing that moves")
        return "" if side == "floor" else self.in_motion("stream")

    def in_motion(self, part: str) -> str:
        quick = ["--quick"] if self.options.quick else []
        return output_of([sys.executable, str(HERE / "motion.py"), part, *quick, "--", *self.server])

    def fences(self, side: str) -> str:
        self.unless_floor("has no fences")
        program = self.optional_program("fences", "CC", "fences.c", "libgeos-dev", "-lgeos_c", "-lm")
        return output_of([str(program)]) if side == "floor" else self.in_motion("fences")

    def long_feed(self, side: str) -> str:
        self.unless_floor("has nothing that moves")
        return "" if side == "floor" else self.in_motion("memory")

    def beside(self, side: str) -> str:
        self.unless_floor("has nothing that moves")
        with all_processors():
            return "" if side == "floor" else self.in_motion("beside")

    def surfaces(self, side: str) -> str:
        """Analyses of 2,000 x 2,000 cells; GDAL's tools are the floor of those in cells, on all processors as the server."""
        self.unless_floor("has no ground")
        if any(shutil.which(tool) is None for tool in ("gdal_viewshed", "gdal_contour")):
            raise Skipped("no gdal_viewshed and gdal_contour (gdal-bin)")
        path, script = BUILD / "hills.tif", [sys.executable, str(HERE / "surfaces.py")]
        if not path.exists():
            output_of([*script, "make", str(path)])
        with all_processors():
            if side == "floor":
                return output_of([*script, "tools", str(path), str(BUILD / "profile")])
            return output_of([*script, "server", str(path), "--", *self.server])

    def pictures(self, side: str) -> str:
        """A million markers in a picture; Cairo's encoder is the floor of the encoding."""
        self.unless_floor("does not paint")
        path = BUILD / "markers"
        if not path.exists():
            output_of([sys.executable, str(HERE / "pictures.py"), "make", str(path)])
        if side == "floor":
            program = self.optional_program("stamps", "CC", "stamps.c", "libcairo2-dev and libspng-dev", "-lcairo", "-lspng", "-lm")
            return output_of([str(program), str(path)])
        return output_of([sys.executable, str(HERE / "pictures.py"), "server", str(path), "--", self.server[0]])

    def maps(self, side: str) -> str:
        """Pictures and a tile, from the wire to the file, beside mapnik, datashader and PostGIS, those of them that are there."""
        self.unless_floor("does not paint")
        needs_geopandas()
        script, folder = str(HERE / "maps.py"), BUILD / "maps"
        if not folder.exists():
            folder.mkdir()
            output_of([sys.executable, script, "make", str(folder)])
        world = str(ROOT / "Tests" / "Fixtures" / "naturalearth_110m.gpkg")
        with all_processors():
            if side == "server":
                return output_of([sys.executable, script, "server", str(folder), world, "--", *self.server])
            figures = []
            # mapnik and the drivers of PostGIS are those of the system.
            for peer, python in (("mapnik", "/usr/bin/python3"), ("datashader", sys.executable), ("postgis", sys.executable)):
                with contextlib.suppress(Failed):
                    figures.append(output_of([python, script, peer, str(folder), world]))
            return "".join(figures)

    def geometry(self, side: str) -> str:
        """Operations with 100,000 polygons and a million points, beside Shapely, GeoPandas and pyproj."""
        self.unless_floor("has no operations with geometries")
        needs_geopandas()
        with all_processors():
            return output_of([sys.executable, str(HERE / "geometry.py"), *(["peers"] if side == "floor" else ["server", "--", *self.server])])

    def subscribed(self, mode: str, side: str) -> str:
        self.unless_floor("has no subscriptions")
        return "" if side == "floor" else self.drive(mode, side)

    def test_binary(self) -> Path:
        if self.options.tests:
            return Path(self.options.tests)
        folders = [ROOT / ".build-tests" / "release", ROOT / ".build" / "release", Path(self.server[0]).resolve().parent]
        for folder in folders:
            for path in folder.glob("*PackageTests.xctest"):
                return path
        raise Skipped("no tests built in release mode (swift build -c release --build-tests)")

    def run(self, group: str, side: str) -> Figures:
        special: dict[str, Callable[[str], str]] = {
            "columns": self.columns, "index": self.index, "document": self.document, "edits": self.edits, "reading": self.reading,
            "export": self.export, "file": self.file, "filters": self.filters, "geojson": lambda side: self.file(side, "geojson"), "frames": self.frames,
            "nearest": self.nearest, "clusters": self.clusters, "join": self.join, "observe": self.observe, "transaction": self.transaction, "motion": self.motion,
            "fences": self.fences, "long-feed": self.long_feed, "beside": self.beside,
            "surfaces": self.surfaces, "pictures": self.pictures, "maps": self.maps, "geometry": self.geometry,
            "latency-unpinned": self.unpinned, "attached": self.attached, "observers": self.observers,
            "long-delta": lambda side: self.subscribed("long-delta", side),
            "undo": lambda side: self.objects("undo", side),
            "open-stretch": lambda side: self.objects("open-stretch", side)}
        mode = "query" if group == "model" else group
        figures, same = figures_of(special[group](side) if group in special else self.drive(mode, side))
        if {"ids_first_microseconds", "moved_ids_first_microseconds"} <= figures.keys():
            figures["first_microseconds"] = max(
                figures["ids_first_microseconds"], figures["moved_ids_first_microseconds"])
        for key, value in same.items():
            if self.agreed.setdefault((group, key), value) != value:
                raise Failed(f"{side}: {key} is {value}, was {self.agreed[group, key]}")
        return figures

    def samples(self, groups: list[str], runs: int) -> tuple[dict, dict]:
        """All figures by (group, side, key), and notes by (group, side). The sides take turns."""
        samples: dict[tuple[str, str, str], list[float]] = {}
        notes: dict[tuple[str, str], Exception] = {}
        for run in range(runs):
            for group in groups:
                for side in ("floor", "server"):
                    if (group, side) in notes:
                        continue
                    progress(f"run {run + 1} of {runs}: {group}, {side}")
                    try:
                        for key, value in self.run(group, side).items():
                            samples.setdefault((group, side, key), []).append(value)
                    except (Failed, Skipped) as note:
                        notes[group, side] = note
        progress("")
        return samples, notes
