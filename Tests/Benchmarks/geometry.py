"""Times operations with 100,000 polygons and a million points, beside the libraries that do the same in one thread.

    python3 geometry.py peers                          Shapely (GEOS), GeoPandas and pyproj (PROJ)
    python3 geometry.py server -- COMMAND [ARGS]

prints figures, one per line, as the C programs beside it do. Shapely and pyproj loop over whole arrays in C. The server has the features
as a loaded layer and makes a new source of them; `project_` figures go from columns to columns, `frame_buffer` from a frame to a frame.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

import geopandas
import numpy
import pyproj
import shapely

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Clients" / "python" / "src"))
import geomodel  # noqa: E402
from geomodel.errors import CancelledError  # noqa: E402

POLYGONS, POINTS, ROUNDS = 100_000, 1_000_000, 3


def polygons() -> Any:
    """Squares of a grid, turned and of many sizes: most meet a neighbour."""
    numbers = numpy.random.default_rng(1)
    side = int(POLYGONS**0.5) + 1
    x, y = numpy.arange(POLYGONS) % side * 100.0 + 500_000, numpy.arange(POLYGONS) // side * 100.0 + 5_300_000
    angle, radius = numbers.uniform(0, 1.5, POLYGONS), numbers.uniform(20, 65, POLYGONS)
    corners = [(x + radius * numpy.cos(angle + turn), y + radius * numpy.sin(angle + turn)) for turn in numpy.arange(8) * numpy.pi / 4]
    rings = numpy.stack([numpy.column_stack(corner) for corner in [*corners, corners[0]]], axis=1)
    frame = {"kind": numpy.arange(POLYGONS) % 1000}
    return geopandas.GeoDataFrame(frame, geometry=shapely.polygons(rings), crs="EPSG:25832")


def points() -> Any:
    numbers = numpy.random.default_rng(2)
    return geopandas.GeoDataFrame(
        {"n": numbers.integers(0, 1000, POINTS)},
        geometry=shapely.points(numbers.uniform(6, 12, POINTS), numbers.uniform(47, 55, POINTS)), crs="EPSG:4326")


def timed(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:]) * 1e3


def peers() -> None:
    frame, many = polygons(), points()
    shapes = frame.geometry.to_numpy()
    print(f"buffer_milliseconds {timed(lambda: shapely.buffer(shapes, 5, quad_segs=8)):.3f}")
    union = getattr(shapely, "disjoint_subset_union_all", shapely.union_all)
    print(f"union_milliseconds {timed(lambda: union(shapes), 1):.3f}")
    print(f"dissolve_milliseconds {timed(lambda: frame.dissolve('kind'), 1):.3f}")
    print(f"frame_buffer_milliseconds {timed(lambda: frame.buffer(5, quad_segs=8)):.3f}")
    x, y = many.geometry.x.to_numpy(), many.geometry.y.to_numpy()
    for code in (3857, 25832):
        transform = pyproj.Transformer.from_crs(4326, code, always_xy=True).transform
        print(f"project_{code}_milliseconds {timed(lambda: transform(x, y)):.3f}")
    column = many["n"].to_numpy()
    print(f"calculate_milliseconds {timed(lambda: column * 2 + 1):.3f}")


def server(command: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, geomodel.launch_sync(command) as session:
        session.map.create(id="m")
        for name, frame in (("polygons", polygons()), ("points", points())):
            path = Path(folder) / f"{name}.fgb"
            frame.to_file(path, driver="FlatGeobuf", SPATIAL_INDEX="NO")
            session.source.open(id=f"{name}-file", path=path)
            session.layer.add(id=name, map="m", source=f"{name}-file")
        session.layer.load(map="m")
        feature = session.feature

        def made(method: Callable[..., Any], **params: Any) -> Callable[[], None]:
            return lambda: session.source.close(source=method(output="source", **params)["source"])

        works: dict[str, Callable[[], Any]] = {
            "buffer": made(feature.buffer, layer="polygons", distance=5),
            "union": made(feature.dissolve, layer="polygons"),
            "dissolve": made(feature.dissolve, layer="polygons", group_by=["kind"]),
            "project_features": made(feature.project, layer="points", out_spatial_reference="EPSG:25832"),
            "calculate": made(feature.calculate, layer="points", computed_fields=[{"name": "twice", "expression": "n * 2 + 1"}]),
        }
        for name, work in works.items():
            print(f"{name}_milliseconds {timed(work):.3f}")
        many = points()
        columns: Any = {"x": many.geometry.x.to_numpy(), "y": many.geometry.y.to_numpy()}
        for code in ("3857", "25832"):
            project = session.geometry.project
            time_taken = timed(lambda: project(columns=columns, spatial_reference="EPSG:4326", out_spatial_reference=f"EPSG:{code}"))
            print(f"project_{code}_milliseconds {time_taken:.3f}")
        frame = polygons()
        print(f"frame_buffer_milliseconds {timed(lambda: session.geometry.buffer(geometries=frame, distance=5)):.3f}")
        for name, work in works.items():
            print(f"cancel_{name}_milliseconds {cancelled(session, work):.3f}")


def cancelled(session: Any, work: Callable[[], Any]) -> float:
    """The longest time from a cancel to the answer, at several moments of the work."""
    longest = 0.0
    for moment in (0.002, 0.02, 0.06):
        ended: list[float] = []

        def run() -> None:
            try:
                work()
            except CancelledError:
                pass
            ended.append(time.perf_counter())

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(moment)  # The moment at which it is cancelled.
        start = time.perf_counter()
        for task in session.task.list()["tasks"]:
            session.task.cancel(task=task["task"])
        thread.join()
        longest = max(longest, (ended[0] - start) * 1e3)
    return longest


if __name__ == "__main__":
    if sys.argv[1:2] == ["peers"]:
        peers()
    else:
        server(sys.argv[sys.argv.index("--") + 1 :])
