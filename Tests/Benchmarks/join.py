#!/usr/bin/env python3
"""Joins points with the polygons that they are within: by GeoPandas, or by a server named behind `--`.

Prints `join_seconds`, without loading, and checksums that are equal on both sides. Needs GeoPandas.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import time

import numpy as np
import shapely


def made(points: int, polygons: int) -> tuple[np.ndarray, np.ndarray]:
    """Points uniform over the world, and polygons of 12 corners, about half a degree in radius."""
    numbers = np.random.default_rng(42)
    xy = np.column_stack([numbers.uniform(-180, 180, points), numbers.uniform(-90, 90, points)])
    centers = np.column_stack([numbers.uniform(-179, 179, polygons), numbers.uniform(-89, 89, polygons)])
    angles = np.arange(12) * (2 * np.pi / 12)
    radii = numbers.uniform(0.3, 0.8, (polygons, 12))
    rings = centers[:, None, :] + radii[:, :, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return xy, shapely.polygons(rings)


def report(seconds: float, points: np.ndarray, polygons: np.ndarray) -> None:
    print(f"join_seconds {seconds:.6f}")
    print(f"pair_checksum {len(points)} {int(points.sum())} {int((points * polygons % 1000003).sum())}")


def by_geopandas(xy: np.ndarray, polygons: np.ndarray) -> None:
    import geopandas

    left = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(xy[:, 0], xy[:, 1]))
    right = geopandas.GeoDataFrame(geometry=polygons)
    start = time.perf_counter()
    joined = geopandas.sjoin(left, right, predicate="within")
    seconds = time.perf_counter() - start
    report(seconds, joined.index.to_numpy(), joined["index_right"].to_numpy())


def column(values: np.ndarray) -> dict:
    kind = "float64" if values.dtype.kind == "f" else "int64"
    return {"type": kind, "data": base64.b64encode(values.astype("<f8" if kind == "float64" else "<i8")).decode()}


def numbers_of(value: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(value["data"]), dtype="<i8")


def by_server(command: list[str], xy: np.ndarray, polygons: np.ndarray) -> None:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout

        def call(method: str, **params: object) -> dict:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            if "error" in answer:
                raise SystemExit(f"{method}: {answer['error']}")
            return answer["result"]

        call("initialize", protocolVersions=["0.7"])
        call("map/create", id="m1")
        call("view/create", id="v1", map="m1")
        for overlay in ("points", "polygons"):
            call("overlay/create", id=overlay, view="v1")
        for start in range(0, len(xy), 100_000):
            part = xy[start : start + 100_000]
            call(
                "overlay/addColumns", overlay="points", x=column(np.ascontiguousarray(part[:, 0])),
                y=column(np.ascontiguousarray(part[:, 1])))
        for start in range(0, len(polygons), 20_000):
            wkb = shapely.to_wkb(polygons[start : start + 20_000])
            offsets = np.cumsum([0, *(len(each) for each in wkb)])
            geometry = {"type": "WKB", "data": base64.b64encode(b"".join(wkb)).decode(), "offsets": column(offsets)}
            call("overlay/addColumns", overlay="polygons", geometry=geometry)
        start = time.perf_counter()
        result = call(
            "feature/join", overlay="points", join={"overlay": "polygons"}, relationship="within", limit=1_000_000)
        seconds = time.perf_counter() - start
        points, joined = [numbers_of(result["ids"])], [numbers_of(result["joinedIds"])]
        # The rest of the pairs, outside of the time: the first answer has counted them all.
        while result["exceededLimit"]:
            result = call(
                "feature/join", overlay="points", join={"overlay": "polygons"}, relationship="within", limit=1_000_000,
                offset=sum(map(len, points)))
            points.append(numbers_of(result["ids"]))
            joined.append(numbers_of(result["joinedIds"]))
        process.stdin.close()
    report(seconds, np.concatenate(points), np.concatenate(joined))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--polygons", type=int, default=100_000)
    parser.add_argument("server", nargs="*")
    options = parser.parse_args()
    xy, polygons = made(options.points, options.polygons)
    if options.server:
        by_server(options.server, xy, polygons)
    else:
        by_geopandas(xy, polygons)


if __name__ == "__main__":
    main()
