"""Times analyses of the ground: profiles, lines of sight, viewsheds and contours of 2,000 x 2,000 cells.

    python3 surfaces.py make FILE                      a GeoTIFF of hills
    python3 surfaces.py tools FILE PROFILE             what GDAL's tools, and the floor for profiles, take for them
    python3 surfaces.py server FILE -- COMMAND [ARGS]

prints figures, one per line, as the C programs beside it do. Tools read the file and write theirs; the server has it open, and sends what it
found: times are those from the request to the answer, after one request that fills caches on either side.
"""

from __future__ import annotations

import array
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from transaction import Server

SIZE, CELL, WEST, NORTH = 2000, 30, 470_000, 5_530_000
# In UTM zone 32, and as longitudes and latitudes within it.
OBSERVER = (WEST + SIZE * CELL / 2 + 15, NORTH - SIZE * CELL / 2 - 15)
LINE = (8.62, 49.42, 9.36, 49.88)
SAMPLES, ROUNDS = 100_000, 5


def make(path: str) -> None:
    """Hills by midpoint displacement (Fournier, Fussell, Carpenter, 1982) in a plain GeoTIFF of 32-bit numbers."""
    numbers, size = random.Random(42), 2048
    heights = [0.0] * ((size + 1) * (size + 1))
    step, rough, row = size, 600.0, size + 1
    while step > 1:
        half = step // 2
        for y in range(half, size, step):
            for x in range(half, size, step):
                around = heights[(y - half) * row + x - half] + heights[(y - half) * row + x + half]
                around += heights[(y + half) * row + x - half] + heights[(y + half) * row + x + half]
                heights[y * row + x] = around / 4 + numbers.uniform(-rough, rough)
        for y in range(0, size + 1, half):
            for x in range(half if y % step == 0 else 0, size + 1, step):
                beside = [heights[b * row + a] for a, b in ((x - half, y), (x + half, y), (x, y - half), (x, y + half))
                          if 0 <= a <= size and 0 <= b <= size]
                heights[y * row + x] = sum(beside) / len(beside) + numbers.uniform(-rough, rough)
        step, rough = half, rough * 0.5
    cells = array.array("f")
    for y in range(SIZE):
        cells.extend(heights[y * row : y * row + SIZE])
    scale, tie = struct.pack("<3d", CELL, CELL, 0), struct.pack("<6d", 0, 0, 0, WEST, NORTH, 0)
    keys = struct.pack("<16H", 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32632)
    entries = [(256, 3, 1, SIZE), (257, 3, 1, SIZE), (258, 3, 1, 32), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, SIZE, None), (277, 3, 1, 1),
               (278, 3, 1, 1), (279, 4, SIZE, None), (339, 3, 1, 3), (33550, 12, 3, None), (33922, 12, 6, None), (34735, 3, 16, None)]
    start = 8 + 2 + 12 * len(entries) + 4
    first = start + SIZE * 8 + len(scale + tie + keys)
    blocks = [struct.pack(f"<{SIZE}I", *(first + y * SIZE * 4 for y in range(SIZE))), struct.pack(f"<{SIZE}I", *[SIZE * 4] * SIZE), scale, tie, keys]
    places = iter([start + sum(map(len, blocks[:number])) for number in range(len(blocks))])
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHIH", b"II", 42, 8, len(entries)))
        for tag, kind, count, value in entries:
            file.write(struct.pack("<HHII", tag, kind, count, next(places) if value is None else value))
        file.write(struct.pack("<I", 0) + b"".join(blocks) + cells.tobytes())


def timed(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def tools(path: str, profile: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        views, lines = [], []
        for number in range(ROUNDS + 1):
            out = Path(folder) / str(number)
            views.append(timed(["gdal_viewshed", "-q", "-ox", str(OBSERVER[0]), "-oy", str(OBSERVER[1]), "-oz", "20", "-md", "50000", "-cc", "0.87",
                                path, f"{out}.tif"]))
            lines.append(timed(["gdal_contour", "-q", "-a", "elevation", "-i", "50", "-f", "FlatGeobuf", path, f"{out}.fgb"]))
    print(f"viewshed_milliseconds {statistics.median(views[1:]) * 1e3:.3f}\ncontours_milliseconds {statistics.median(lines[1:]) * 1e3:.3f}")
    print(subprocess.run([profile, path, str(SAMPLES), *map(str, LINE)], check=True, capture_output=True, text=True).stdout, end="")


def point(x: float, y: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [x, y]}


def repeated(server: Server, method: str, params: dict) -> float:
    return statistics.median([server.call(method, {"scene": "s", **params}) for _ in range(ROUNDS + 1)][1:]) * 1e3


def cancelled(command: list[str], path: str, method: str, params: dict) -> tuple[float, float]:
    """The longest times, in milliseconds, from a cancel to the answer, and until no work is running."""
    answers, workers = [0.0], [0.0]
    server = Server(command)
    server.call("scene/create", {"id": "s", "elevationSources": [path]})
    server.call("surface/profile", {"scene": "s", "line": {"type": "LineString", "coordinates": [LINE[:2], LINE[2:]]}})
    for number in range(12):
        server.write({"jsonrpc": "2.0", "id": f"c{number}", "method": method, "params": {"scene": "s", **params}})
        time.sleep(0.001 + number * 0.01)  # The moments at which it is cancelled.
        start = time.perf_counter()
        server.write({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": f"c{number}"}})
        if b"-32800" not in (answer := server.process.stdout.readline())[:200] and b'"result"' not in answer[:4000]:
            sys.exit(f"{method}: {answer[:300].decode()}")
        answers.append((time.perf_counter() - start) * 1e3)
        while True:
            server.requests += 1
            server.write({"jsonrpc": "2.0", "id": server.requests, "method": "session/status", "params": {}})
            if json.loads(server.process.stdout.readline())["result"]["tasks"]["working"] == 0:
                break
        workers.append((time.perf_counter() - start) * 1e3)
    server.process.stdin.close()
    server.process.wait(10)
    return max(answers), max(workers)


def measure(path: str, command: list[str]) -> None:
    server = Server(command)
    server.call("scene/create", {"id": "s", "elevationSources": [path]})
    line = {"type": "LineString", "coordinates": [LINE[:2], LINE[2:]]}
    server.call("surface/profile", {"scene": "s", "line": line})
    print(f"profile_milliseconds {repeated(server, 'surface/profile', {'line': line, 'count': SAMPLES}):.3f}")
    sight = {"observers": [point(*LINE[:2])], "targets": [point(*LINE[2:])], "observerHeight": 1000, "step": 0.73}
    print(f"sight_milliseconds {repeated(server, 'surface/lineOfSight', sight):.3f}")
    view = {"observer": point(*OBSERVER), "spatialReference": "EPSG:32632", "observerHeight": 20, "maxDistance": 50_000}
    print(f"viewshed_milliseconds {repeated(server, 'surface/viewshed', {**view, 'output': 'cells'}):.3f}")
    print(f"viewshed_polygons_milliseconds {repeated(server, 'surface/viewshed', view):.3f}")
    contours = {"interval": 50, "spatialReference": "EPSG:32632"}
    print(f"contours_milliseconds {repeated(server, 'surface/contours', contours):.3f}")
    server.process.stdin.close()
    server.process.wait(10)
    for name, method, params in (("viewshed", "surface/viewshed", view), ("contours", "surface/contours", contours)):
        answer, worker = cancelled(command, path, method, params)
        print(f"cancel_{name}_milliseconds {answer:.3f}\nworker_{name}_milliseconds {worker:.3f}")


def main() -> None:
    mode, path = sys.argv[1:3]
    if mode == "make":
        make(path)
    elif mode == "tools":
        tools(path, sys.argv[3])
    else:
        measure(path, sys.argv[sys.argv.index("--") + 1 :])


if __name__ == "__main__":
    main()
