#!/usr/bin/env python3
"""Measures the project's bars for speed and memory in one run: the server against small C programs on the same machine.

README.md beside this file says what each measure is. Standard library only; needs a C compiler and libjansson-dev.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import random
import re
import resource
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / ".build" / "benchmarks"
PROGRAMS = {
    "drive": ("drive.c", ["-ljansson", "-lm"]),
    "server": ("floors/server.c", ["-ljansson", "-lm"]),
    "parse": ("floors/parse.c", ["-ljansson", "-lm"]),
    "notify": ("floors/notify.c", ["-ljansson"]),
    "hilbert_rtree": ("floors/hilbert_rtree.c", []),
    "clusters": ("floors/clusters.c", ["-lm"]),
    "features": ("floors/features.c", ["-lgdal"]),
    "scan": ("floors/scan.c", []),
    "profile": ("floors/profile.c", ["-I/usr/include/gdal", "-lgdal", "-lproj", "-lm"]),
}
Figures = dict[str, float]


class Failed(Exception):
    """A program failed before it printed its figures; the message says why."""


class Skipped(Exception):
    """A measure that is not possible here; the message says why."""


@dataclass(frozen=True)
class Measure:
    """One row of the table: a figure of the server, what it is compared with, and the bar."""

    name: str
    group: str  # the run that produces the figure
    unit: str
    key: str
    floor_key: str | None = None  # if the floor has another name
    own_key: str | None = None  # the server's own figure to compare with, instead of the floor
    most: float | None = None  # of the ratio
    least: float | None = None  # of the ratio
    limit: float | None = None  # of the server's figure itself

    @property
    def bar(self) -> str:
        if self.most is not None:
            return f"ratio <= {self.most:g}"
        if self.least is not None:
            return f"ratio >= {self.least:g}"
        return f"<= {self.limit:g}" if self.limit is not None else ""

    def passes(self, value: float, ratio: float | None) -> bool | None:
        if self.limit is not None:
            return value <= self.limit
        if ratio is None or (self.most is None and self.least is None):
            return None
        return ratio <= self.most if self.most is not None else ratio >= self.least


MEASURES = [
    Measure("throughput", "throughput", "requests/s", "requests_per_second", least=0.9),
    Measure("latency", "latency", "us", "median_microseconds", most=1.2),
    Measure("latency-p99", "latency", "us", "p99_microseconds"),
    Measure("latency-unpinned", "latency-unpinned", "us", "median_microseconds", most=0.5),
    # The floor is the same server on standard streams.
    Measure("latency-attached", "attached", "us", "median_microseconds", most=2.2),
    Measure("observers", "observers", "cores", "observers_cores", limit=0.5),
    Measure("start", "start", "ms", "start_milliseconds", most=6),
    Measure("start-memory", "start", "MB", "start_resident_megabytes", limit=16),
    Measure("load-objects", "model", "s", "load_seconds", most=1.3),
    Measure("load-columns", "columns", "s", "load_seconds", floor_key="parse_seconds", most=1.5),
    Measure("index", "index", "us/box", "microseconds_per_box", most=1.7),
    Measure("index-build", "index", "s", "build_seconds"),
    Measure("nearest", "nearest", "us/place", "planar_microseconds", most=1.4),
    Measure("nearest-geodetic", "nearest", "us/place", "geodetic_microseconds", limit=15),
    Measure("join", "join", "s", "join_seconds", most=0.4),
    Measure("cluster-build", "clusters", "s", "cluster_seconds", most=0.9),
    Measure("cluster-nodes", "clusters", "nodes", "cluster_nodes", most=1.00001),
    Measure("cluster-tile", "clusters", "us", "tile_microseconds", limit=10),
    Measure("cluster-memory", "clusters", "MB", "cluster_megabytes", limit=300),
    Measure("query-ids", "model", "us/box", "ids_microseconds", most=1.6),
    Measure("query-features", "model", "us/box", "features_microseconds", most=1.9),
    Measure(
        "query-features-six", "model", "us/box", "features_microseconds", floor_key="six_decimals_microseconds", most=1.7),
    Measure("nearest-wire", "model", "us/place", "nearest_microseconds", most=1.5),
    Measure("nearest-wire-geodetic", "model", "us/place", "nearest_geodetic_microseconds", floor_key="nearest_microseconds"),
    Measure("moved-ids", "model", "us/box", "moved_ids_microseconds", own_key="ids_microseconds", most=1.5),
    Measure(
        "moved-features", "model", "us/box", "moved_features_microseconds", own_key="features_microseconds", most=1.5),
    Measure("move", "model", "s", "move_seconds"),
    Measure("filter-count", "filters", "ms", "count_milliseconds", most=1.5),
    Measure("statistics", "filters", "ms", "statistics_milliseconds", floor_key="count_milliseconds", most=10),
    Measure("equality", "filters", "us", "equality_microseconds", own_key="ids_microseconds", most=2),
    Measure("equality-first", "filters", "ms", "equality_first_milliseconds"),
    *(
        measure
        for kind in ("filter", "nearest", "join", "clusters", "identify")
        for measure in (
            Measure(f"{kind}-cancel", "filters", "ms", f"cancel_{kind}_milliseconds", limit=50),
            Measure(f"{kind}-cancel-worker", "filters", "ms", f"worker_{kind}_milliseconds", limit=100))),
    Measure("first-write", "edits", "us", "first_write_microseconds", limit=1000),
    Measure("undo-delete", "edits", "s", "undo_delete_seconds", own_key="delete_seconds", most=2),
    Measure("undo-delete-stretch", "edits", "s", "stretch_undo_delete_seconds", own_key="stretch_delete_seconds", most=2),
    *(
        Measure(f"undo-create-{kind}", "undo", "us/object", f"undo_{kind}_microseconds", limit=5)
        for kind in ("map", "layer", "group", "overlay", "view_model")),
    Measure("open-stretch", "open-stretch", "ms", "held_milliseconds", limit=20),
    Measure("first-box", "model", "us", "first_microseconds", limit=10_000),
    Measure("transaction", "transaction", "s", "transaction_seconds", own_key="bulk_seconds", most=1.2),
    Measure("transaction-single", "transaction", "s", "single_seconds", own_key="single_bulk_seconds"),
    Measure("document", "document", "s", "document_seconds", most=2),
    Measure("document-save", "document", "s", "save_seconds", floor_key="dump_seconds"),
    Measure("document-open", "document", "s", "open_seconds", floor_key="parse_seconds"),
    Measure("file", "file", "s", "features_seconds", most=1.5),
    Measure("file-open", "file", "ms", "open_milliseconds"),
    Measure("geojson", "geojson", "s", "features_seconds", most=0.2),
    Measure("geojson-open", "geojson", "ms", "open_milliseconds"),
    Measure("parse-cancel", "reading", "ms", "cancel_native_milliseconds", limit=50),
    Measure("parse-cancel-gdal", "reading", "ms", "cancel_gdal_milliseconds", limit=50),
    Measure("export", "export", "s", "gpkg_seconds", most=1.5),
    Measure("export-geojson", "export", "s", "geojson_seconds", most=0.2),
    Measure("frame-points-in", "frames", "s", "points_in_seconds", limit=3),
    Measure("frame-points-out", "frames", "s", "points_out_seconds", limit=3),
    Measure("frame-polygons-in", "frames", "s", "polygons_in_seconds", limit=1),
    Measure("frame-polygons-out", "frames", "s", "polygons_out_seconds", limit=1),
    Measure(
        "observe-100", "observe", "us/set", "set_among_100_microseconds", own_key="set_observed_microseconds", most=1.3),
    Measure("notification", "observe", "us", "notification_microseconds", most=0.5),
    Measure(
        "first-notification", "observe", "us", "first_notification_microseconds",
        floor_key="notification_microseconds"),
    Measure("long-delta", "long-delta", "ms", "held_milliseconds", limit=20),
    Measure("long-delta-delivery", "long-delta", "s", "delta_seconds"),
    Measure("entity-columns", "motion", "us", "entity_columns_microseconds", limit=3),
    Measure("entity-objects", "motion", "us", "entity_objects_microseconds", limit=5),
    Measure("entity-memory", "long-feed", "MB", "memory_growth_megabytes", limit=50),
    Measure("geotrigger-fix", "fences", "us", "fix_microseconds", most=3),
    Measure("frames-beside", "beside", "ms", "frame_p99_milliseconds", limit=5),
    Measure("views-in-motion", "motion", "x real time", "views_times_real"),
    Measure("location-notification", "motion", "us", "notification_microseconds", own_key="echo_microseconds", most=1.3),
    Measure("geometry-buffer", "geometry", "ms", "buffer_milliseconds", most=0.7),
    Measure("geometry-union", "geometry", "ms", "union_milliseconds", most=1.1),
    Measure("geometry-dissolve", "geometry", "ms", "dissolve_milliseconds", most=0.5),
    Measure("geometry-frame-buffer", "geometry", "ms", "frame_buffer_milliseconds", most=1),
    Measure("geometry-project-3857", "geometry", "ms", "project_3857_milliseconds", most=0.4),
    Measure("geometry-project-25832", "geometry", "ms", "project_25832_milliseconds", most=0.7),
    Measure("geometry-project-features", "geometry", "ms", "project_features_milliseconds", floor_key="project_25832_milliseconds"),
    Measure("geometry-calculate", "geometry", "ms", "calculate_milliseconds", most=4),
    *(
        Measure(f"geometry-cancel-{kind}", "geometry", "ms", f"cancel_{kind}_milliseconds", limit=50)
        for kind in ("buffer", "union", "dissolve", "project_features", "calculate")),
    Measure("profile", "surfaces", "ms", "profile_milliseconds", most=2),
    Measure("line-of-sight", "surfaces", "ms", "sight_milliseconds", most=2),
    Measure("viewshed", "surfaces", "ms", "viewshed_milliseconds", most=1),
    Measure("viewshed-polygons", "surfaces", "ms", "viewshed_polygons_milliseconds", floor_key="viewshed_milliseconds"),
    Measure("contours", "surfaces", "ms", "contours_milliseconds", most=1.1),
    *(
        measure
        for kind in ("viewshed", "contours")
        for measure in (
            Measure(f"{kind}-cancel", "surfaces", "ms", f"cancel_{kind}_milliseconds", limit=50),
            Measure(f"{kind}-cancel-worker", "surfaces", "ms", f"worker_{kind}_milliseconds", limit=100))),
    Measure("picture-markers", "pictures", "ms", "markers_milliseconds", most=1.5),
    Measure("picture-encoding", "pictures", "ms", "encoded_milliseconds", most=0.3),
    Measure("picture-bytes", "pictures", "B", "encoded_bytes", most=1.5),
    Measure("map-points", "maps", "ms", "map_points_milliseconds", most=0.3),
    Measure("map-points-datashader", "maps", "ms", "map_points_milliseconds", floor_key="map_datashader_milliseconds"),
    Measure("map-polygons", "maps", "ms", "map_polygons_milliseconds", most=0.5),
    Measure("map-countries", "maps", "ms", "map_countries_milliseconds", most=0.5),
    Measure("tile", "maps", "ms", "tile_milliseconds", most=0.5),
    Measure("memory-objects", "model", "B/graphic", "load_bytes_a_graphic", limit=120),
    Measure("memory-columns", "columns", "B/graphic", "load_bytes_a_graphic", limit=120),
]
# Figures that have to be equal on both sides, which shows that both did the same work.
SAME = re.compile(r"hits|checksum")


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def busy_seconds(processor: int) -> float:
    """Busy time of this processor since boot, of all processes."""
    line = next(s for s in Path("/proc/stat").read_text().splitlines() if s.startswith(f"cpu{processor} "))
    user, nice, system, _, _, irq, soft, *_ = (int(n) for n in line.split()[1:])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this program and the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


@contextlib.contextmanager
def all_processors() -> Iterator[None]:
    """For what does not run on one processor alone."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def compile_programs() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in HERE.rglob("*.[ch]"))
    for name, (source, libraries) in PROGRAMS.items():
        program = BUILD / name
        if program.exists() and program.stat().st_mtime > newest:
            continue
        compiler = shlex.split(os.environ.get("CC", "cc"))
        command = [*compiler, "-O2", "-D_GNU_SOURCE", "-o", str(program), str(HERE / source), *libraries]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as problem:
            sys.exit(f"bench: no C compiler: {problem}")
        if done.returncode:
            sys.exit(f"bench: {source} does not compile (are a C compiler and libjansson-dev there?)\n{done.stderr}")


def output_of(command: list[str], environment: dict[str, str] | None = None) -> str:
    whole = {**os.environ, **(environment or {})}
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=whole)
    except OSError as problem:
        raise Failed(str(problem)) from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()
        raise Failed(lines[-1][:400])
    return done.stdout


def figures_of(text: str) -> tuple[Figures, dict[str, str]]:
    """The numbers, and separately the figures that have to be equal on both sides."""
    figures: Figures = {}
    same: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if SAME.search(key):
            same[key] = value
        else:
            figures[key] = float(value)
    return figures, same


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.floor = [str(BUILD / "server")]
        self.server = shlex.split(options.server) if options.server else self.floor
        self.agreed: dict[tuple[str, str], str] = {}

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
        if self.server == self.floor:
            raise Skipped("the C server is not shared")
        quick = ["--requests", "20000"] if self.options.quick else []
        command = self.server if side == "floor" else [*self.server, "--attach", "bench", "--linger", "0"]
        # Client, forwarder and server share the processors.
        with all_processors(), tempfile.TemporaryDirectory() as folder:
            return output_of([str(BUILD / "drive"), *quick, "latency", "--", *command], {"XDG_RUNTIME_DIR": folder})

    def observers(self, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server is not shared")
        return "" if side == "floor" else output_of([sys.executable, str(HERE / "sharing.py"), "--", *self.server])

    def columns(self, side: str) -> str:
        if side == "floor":
            return output_of([str(BUILD / "parse"), "columns", "100000" if self.options.quick else "1000000"])
        if self.server == self.floor:
            raise Skipped("the C server has no columns")
        return self.drive("load-columns", side)

    def filters(self, side: str) -> str:
        if side == "floor":
            return output_of([str(BUILD / "scan"), "100000" if self.options.quick else "1000000"])
        if self.server == self.floor:
            raise Skipped("the C server has no filters")
        return self.drive("filters", side)

    def document(self, side: str) -> str:
        path = BUILD / "document.json"
        if self.server == self.floor:
            raise Skipped("the C server has no documents")
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
        if self.server == self.floor:
            raise Skipped("the C server reads no files")
        with self.calling() as call:
            call("map/create", id="m1")
            opened = call("source/open", id="s1", path=str(path))
            call("layer/add", map="m1", source="s1", id="l1")
            loaded = call("layer/load", layer="l1")
        return f"features_seconds {opened + loaded}\nopen_milliseconds {opened * 1000}"

    def export(self, side: str) -> str:
        """Points with three fields of a loaded layer to files: a million as GeoJSON, a tenth as GeoPackage, of which GDAL writes 70,000 a second."""
        if self.server == self.floor:
            raise Skipped("the C server writes no files")
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
        if self.server == self.floor:
            raise Skipped("the C server has no columns of geometries")
        if importlib.util.find_spec("geopandas") is None:
            raise Skipped("no geopandas in this Python")
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
        found = re.findall(r"^nearest (\S+ \S+)$", self.figures_of_tests("nearest"), re.MULTILINE)
        if not found:
            raise Skipped("the tests have no figures of nearest features")
        return "\n".join(found)

    def clusters(self, side: str) -> str:
        """In the process: a million points clustered for the zooms 16 to 0; tiles of clusters."""
        if side == "floor":
            return output_of([str(BUILD / "clusters")])
        found = re.findall(r"^clusters (\S+ \S+)$", self.figures_of_tests("clusters"), re.MULTILINE)
        if not found:
            raise Skipped("the tests have no figures of clusters")
        return "\n".join(found)

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
        if self.server == self.floor:
            raise Skipped("the C server joins nothing")
        if importlib.util.find_spec("geopandas") is None:
            raise Skipped("no geopandas in this Python")
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
        if self.server == self.floor:
            raise Skipped("the C server has no objects")
        # Documents are read by a worker beside the loop.
        with all_processors():
            return "" if side == "floor" else self.drive(mode, side)

    def transaction(self, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server has no transactions")
        return "" if side == "floor" else output_of([sys.executable, str(HERE / "transaction.py"), "--", *self.server])

    def motion(self, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server has nothing that moves")
        return "" if side == "floor" else self.in_motion("stream")

    def in_motion(self, part: str) -> str:
        quick = ["--quick"] if self.options.quick else []
        return output_of([sys.executable, str(HERE / "motion.py"), part, *quick, "--", *self.server])

    def fences(self, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server has no fences")
        program = self.optional_program("fences", "CC", "fences.c", "libgeos-dev", "-lgeos_c", "-lm")
        return output_of([str(program)]) if side == "floor" else self.in_motion("fences")

    def long_feed(self, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server has nothing that moves")
        return "" if side == "floor" else self.in_motion("memory")

    def beside(self, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server has nothing that moves")
        with all_processors():
            return "" if side == "floor" else self.in_motion("beside")

    def surfaces(self, side: str) -> str:
        """Analyses of 2,000 x 2,000 cells; GDAL's tools are the floor of those in cells, on all processors as the server."""
        if self.server == self.floor:
            raise Skipped("the C server has no ground")
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
        if self.server == self.floor:
            raise Skipped("the C server does not paint")
        path = BUILD / "markers"
        if not path.exists():
            output_of([sys.executable, str(HERE / "pictures.py"), "make", str(path)])
        if side == "floor":
            program = self.optional_program("stamps", "CC", "stamps.c", "libcairo2-dev and libspng-dev", "-lcairo", "-lspng", "-lm")
            return output_of([str(program), str(path)])
        return output_of([sys.executable, str(HERE / "pictures.py"), "server", str(path), "--", self.server[0]])

    def maps(self, side: str) -> str:
        """Pictures and a tile, from the wire to the file, beside mapnik, datashader and PostGIS, those of them that are there."""
        if self.server == self.floor:
            raise Skipped("the C server does not paint")
        if importlib.util.find_spec("geopandas") is None:
            raise Skipped("no geopandas in this Python")
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
        if self.server == self.floor:
            raise Skipped("the C server has no operations with geometries")
        if importlib.util.find_spec("geopandas") is None:
            raise Skipped("no geopandas in this Python")
        with all_processors():
            return output_of([sys.executable, str(HERE / "geometry.py"), *(["peers"] if side == "floor" else ["server", "--", *self.server])])

    def subscribed(self, mode: str, side: str) -> str:
        if self.server == self.floor:
            raise Skipped("the C server has no subscriptions")
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


def rows_of(measures: list[Measure], samples: dict, notes: dict) -> list[dict]:
    medians = {key: statistics.median(values) for key, values in samples.items()}
    rows = []
    for measure in measures:
        failed = next((n for s in ("floor", "server") if (n := notes.get((measure.group, s)))), None)
        floor = medians.get((measure.group, "floor", measure.floor_key or measure.key))
        value = medians.get((measure.group, "server", measure.key)) if failed is None else None
        base = medians.get((measure.group, "server", measure.own_key)) if measure.own_key else floor
        ratio = value / base if value is not None and base else None
        passed = measure.passes(value, ratio) if value is not None else None
        result = "" if passed is None else "pass" if passed else "FAIL"
        if failed and measure.bar:
            result = "FAIL" if isinstance(failed, Failed) else "skipped"
        elif value is not None and passed is None and measure.bar:
            result = "skipped"  # The peer is not installed.
        rows.append({
            "measure": measure.name, "unit": measure.unit, "floor": floor, "server": value, "ratio": ratio,
            "against": "itself" if measure.own_key else "floor", "bar": measure.bar, "result": result,
            "note": str(failed) if failed else ""})
    return rows


def shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.3g}"


def print_table(rows: list[dict], with_bars: bool) -> None:
    cells = [["measure", "unit", "floor", "server", "ratio", *(["bar", "result"] if with_bars else [])]]
    for row in rows:
        own = "" if row["against"] == "floor" else " *"
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}{own}"
        cells.append([row["measure"], row["unit"], shown(row["floor"]), shown(row["server"]), ratio,
                      *([row["bar"], row["result"]] if with_bars else [])])
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        padded = (c.rjust(w) if 2 <= i <= 4 else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths)))
        print("  ".join(padded).rstrip())
    for note in dict.fromkeys(row["note"] for row in rows if row["note"]):
        print(f"{', '.join(r['measure'] for r in rows if r['note'] == note)}: {note}")


def processor_name() -> str:
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The server against C floors on this machine, and the project's bars.")
    add = parser.add_argument
    add("--server", metavar="COMMAND", help="the server to measure; without it the C floor against itself")
    add("--tests", metavar="PATH", help="the Swift test binary for `index`, when it is not in .build/release")
    add("--only", metavar="NAME", action="append", help="only measures whose name has NAME in it (repeatable)")
    add("--runs", type=int, metavar="N", help="runs to take the median of (5, quick: 1)")
    add("--quick", action="store_true", help="a tenth of the points and requests, one run: the bars mean little")
    add("--unpinned", action="store_true", help="afterwards the same on all processors, for information")
    add("--json", metavar="FILE", help="write rows and all samples there")
    add("--no-fail", action="store_true", help="exit 0 even if a bar is missed")
    return parser.parse_args(arguments)


def main() -> int:
    options = options_of()
    measures = [m for m in MEASURES if not options.only or any(name in m.name for name in options.only)]
    if not measures:
        sys.exit(f"bench: no such measure; there are {', '.join(m.name for m in MEASURES)}")
    compile_programs()
    groups = list(dict.fromkeys(m.group for m in measures))
    runs = options.runs or (1 if options.quick else 5)
    processors = os.sched_getaffinity(0)
    report = {"processor": processor_name(), "processors": len(processors), "quick": options.quick, "passes": []}
    failed = False
    for pinned in (True, False) if options.unpinned else (True,):
        os.sched_setaffinity(0, {max(processors)} if pinned else processors)
        before = busy_seconds(max(processors)) - own_seconds(), time.monotonic()
        samples, notes = Bench(options).samples(groups, runs)
        others = (busy_seconds(max(processors)) - own_seconds() - before[0]) / (time.monotonic() - before[1])
        rows = rows_of(measures, samples, notes)
        where = "pinned to one processor" if pinned else f"\nnot pinned ({len(processors)} processors), for information"
        also = (", quick" if options.quick else "") + ("" if options.server else "; the C server on both sides")
        print(f"{where}; {report['processor']}; median of {runs}{also}")
        print_table(rows, with_bars=pinned)
        if pinned and others > 0.03:
            print(f"Others used {others:.0%} of this processor meanwhile: repeat it on a quiet machine.")
        failed |= pinned and any(row["result"] == "FAIL" for row in rows)
        report["passes"].append({
            "pinned": pinned, "runs": runs, "rows": rows, **({"usedByOthers": round(others, 3)} if pinned else {}),
            "samples": {"/".join(key): values for key, values in samples.items()}})
    if any(m.own_key for m in measures):
        print("* against the server's own figure: before the move, of the delete, with one subscription, in one bulk call")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    return 1 if failed and not options.no_fail else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
