#!/usr/bin/env python3
"""Seconds that GeoDataFrames take into an overlay and out again: points with three attributes, and polygons. Needs GeoPandas."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import geopandas
import numpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Clients" / "python" / "src"))
import geomodel  # noqa: E402


def frame(count: int, seed: int, radius: float) -> Any:
    """Points, or with a radius polygons of 17 positions; ids that do not ascend."""
    numbers = numpy.random.default_rng(seed)
    places = geopandas.points_from_xy(numbers.uniform(-179, 179, count), numbers.uniform(-89, 89, count))
    frame = geopandas.GeoDataFrame(
        {"name": [f"name {n:015}" for n in range(count)], "rank": numbers.integers(0, 10_000_000, count),
         "height": numbers.random(count)},
        geometry=places, crs="EPSG:4326", index=numbers.permutation(count) + 7,
    )
    if radius:
        frame["geometry"] = geopandas.GeoSeries(places).buffer(radius, quad_segs=4).set_crs("EPSG:4326").to_numpy()
    return frame


def measure(server: Any, name: str, given: Any) -> None:
    server.overlay.create(id=name, view="v1")
    start = time.perf_counter()
    server.overlay.add(given, overlay=name)
    middle = time.perf_counter()
    found = geomodel.to_geodataframe(server, overlay=name)
    end = time.perf_counter()
    columns = ["name", "rank", "height"]
    same = found.index.equals(given.index) and found[columns].equals(given[columns]) and found.crs == given.crs
    if not same or not bool((found.geometry.to_numpy() == given.geometry.to_numpy()).all()):
        sys.exit(f"frames: {name} come out otherwise than they went in")
    print(f"{name}_in_seconds {middle - start}\n{name}_out_seconds {end - middle}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--polygons", type=int, default=100_000)
    parser.add_argument("command", nargs="+", help="the server")
    options = parser.parse_args()
    with geomodel.launch_sync(options.command) as server:
        server.map.create(id="m1")
        server.view.create(id="v1", map="m1")
        measure(server, "points", frame(options.points, 1, 0))
        measure(server, "polygons", frame(options.polygons, 2, 0.1))


if __name__ == "__main__":
    main()
