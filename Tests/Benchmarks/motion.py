"""Times what streams: pushed observations and locations, fences, and views in motion.

    python3 motion.py PART [--quick] -- COMMAND [ARGS]

prints the figures of a part (stream, fences, memory, beside), one per line, as the C programs beside it do. Messages are lines over pipes. Processor times are those of the server, per
observation, without what `session/echo` needs to read and write the same text where that is said.
"""

from __future__ import annotations

import array
import base64
import json
import math
import os
import random
import statistics
import sys
import time
from typing import Any

from transaction import Server

ENTITIES, BATCH, OBSERVATIONS = 100_000, 5_000, 200_000
FENCES, FIXES = 10_000, 30_000


def column(values: list[Any], code: str) -> dict[str, str]:
    return {"type": "float64" if code == "d" else "int64", "data": base64.b64encode(array.array(code, values).tobytes()).decode()}


class Walks:
    """Entities that walk at random around longitude and latitude 0."""

    def __init__(self) -> None:
        self.random = random.Random(1)
        self.places = [[self.random.uniform(-1, 1), self.random.uniform(-1, 1)] for _ in range(ENTITIES)]
        self.time = 1_767_225_600_000

    def step(self, count: int) -> list[tuple[int, float, float]]:
        self.time += 1000
        moved = []
        for number in self.random.choices(range(ENTITIES), k=count):
            place = self.places[number]
            place[0] += self.random.uniform(-1e-3, 1e-3)
            place[1] += self.random.uniform(-1e-3, 1e-3)
            moved.append((number, place[0], place[1]))
        return moved

    def columns(self, count: int) -> dict[str, Any]:
        moved = self.step(count)
        numbers, x, y = (list(each) for each in zip(*moved))
        return {
            "entitySource": "e", "x": column(x, "d"), "y": column(y, "d"),
            "attributes": {"id": column(numbers, "q"), "time": column([self.time] * count, "q")}}

    def objects(self, count: int) -> dict[str, Any]:
        return {"entitySource": "e", "features": [
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [x, y]}, "properties": {"id": number, "time": self.time}}
            for number, x, y in self.step(count)]}


class Streaming(Server):
    """A server whose answers come among notifications."""

    def call(self, method: str, params: dict, member: str = "result") -> float:
        self.requests += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}).encode() + b"\n"
        start = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        while b'"id":%d,' % self.requests not in (answer := self.process.stdout.readline())[:60]:
            if not answer:
                sys.exit(f"{method}: the server ended")
        taken = time.perf_counter() - start
        if member not in json.loads(answer):
            sys.exit(f"{method} failed: {answer[:300].decode()}")
        return taken

    def processor(self) -> float:
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def spent(self, method: str, all_params: list[dict]) -> float:
        before = self.processor()
        for params in all_params:
            self.call(method, params)
        return self.processor() - before

    def source(self) -> None:
        self.call("clock/set", {"mode": "manual"})
        fields = [{"name": "id", "type": "integer"}, {"name": "time", "type": "integer"}]
        self.call("entity/create", {
            "id": "e", "fields": fields, "trackIdField": "id", "timeField": "time", "maxObservations": 500_000, "maxObservationsPerTrack": 5})
        self.call("entity/connect", {"entitySource": "e"})

    def end(self) -> None:
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait(10)


def observations(command: list[str], kind: str) -> None:
    server, walks = Streaming(command), Walks()
    server.source()
    box = {"xMin": -0.01, "yMin": -0.01, "xMax": 0.01, "yMax": 0.01}
    server.call("entity/observe", {"entitySource": "e", "envelope": box})
    make, method = (walks.columns, "entity/pushColumns") if kind == "columns" else (walks.objects, "entity/push")
    batches = [make(BATCH) for _ in range(OBSERVATIONS // BATCH)]
    read = server.spent("session/echo", batches) if kind == "objects" else 0
    taken = server.spent(method, batches)
    print(f"entity_{kind}_microseconds {(taken - read) / OBSERVATIONS * 1e6:.3f}")
    server.end()


def fences(command: list[str]) -> None:
    server, walks = Streaming(command), Walks()
    server.source()
    server.call("map/create", {"id": "m"})
    server.call("view/create", {"id": "v", "map": "m"})
    server.call("overlay/create", {"id": "z", "view": "v"})
    graphics = []
    for _ in range(FENCES):
        x, y, radius = walks.random.uniform(-1, 1), walks.random.uniform(-1, 1), walks.random.uniform(0.002, 0.02)
        ring = [[x + radius * math.cos(2 * math.pi * k / 12), y + radius * math.sin(2 * math.pi * k / 12)] for k in range(12)]
        graphics.append({"geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}})
    server.call("overlay/addGraphics", {"overlay": "z", "graphics": graphics})
    def batches() -> list[dict[str, Any]]:
        return [walks.columns(1000) for _ in range(FIXES // 1000)]

    alone = server.spent("entity/pushColumns", batches())
    server.call("geotrigger/create", {"id": "w", "feed": "e", "fences": "z"})
    server.call("geotrigger/start", {"geotrigger": "w"})
    server.call("clock/advance", {"seconds": 3})
    watched = server.spent("entity/pushColumns", batches())
    print(f"fix_microseconds {(watched - alone) / FIXES * 1e6:.3f}")
    server.end()


def views(command: list[str]) -> None:
    server = Streaming(command)
    server.call("clock/set", {"mode": "manual"})
    server.call("map/create", {"id": "m"})
    for number in range(1000):
        server.call("view/create", {"id": f"v{number}", "map": "m"})
        center = {"type": "Point", "coordinates": [number % 170, 40]}
        viewpoint = {"type": "centerAndScale", "center": center, "targetScale": 1e5}
        server.write({"jsonrpc": "2.0", "id": f"a{number}", "method": "view/animateViewpoint", "params": {
            "view": f"v{number}", "duration": 30, "viewpoint": viewpoint}})
    print(f"views_times_real {10 / server.call('clock/advance', {'seconds': 10}):.3f}")
    server.end()


def notification(command: list[str]) -> None:
    server = Streaming(command)
    server.call("location/createExternal", {"id": "p", "authorization": "granted"})
    server.call("location/start", {"locationSource": "p"})
    server.call("location/observe", {"locationSource": "p"})
    echoed, pushed = [], []
    for number in range(3000):
        echoed.append(server.call("session/echo", {"a": 1}))
        location = {"position": {"type": "Point", "coordinates": [number / 1e4, 1]}}
        server.requests += 1
        start = time.perf_counter()
        server.write({"jsonrpc": "2.0", "id": server.requests, "method": "location/push", "params": {
            "locationSource": "p", "locations": [location]}})
        line = server.process.stdout.readline()
        pushed.append(time.perf_counter() - start)
        if b"location/changed" not in line[:80] or b'"result"' not in server.process.stdout.readline():
            sys.exit(f"no notification: {line[:300].decode()}")
    print(f"echo_microseconds {statistics.median(echoed) * 1e6:.3f}")
    print(f"notification_microseconds {statistics.median(pushed) * 1e6:.3f}")
    server.end()


def memory(command: list[str], quick: bool) -> None:
    """What is added to the memory by four million observations after the first million, of which 500,000 are kept."""
    server, walks = Streaming(command), Walks()
    server.source()
    batches = [walks.columns(BATCH) for _ in range(40)]
    resident = []
    for number in range(100 if quick else 1000):
        batch = batches[number % len(batches)]
        batch["attributes"]["time"] = column([walks.time + 1000 * number] * BATCH, "q")
        server.call("entity/pushColumns", batch)
        if number % 20 == 19:
            with open(f"/proc/{server.process.pid}/statm") as file:
                resident.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6)
    first = len(resident) // 5
    print(f"memory_growth_megabytes {max(0.0, max(resident[first:]) - max(resident[:first])):.3f}")
    server.end()


def beside(command: list[str], quick: bool) -> None:
    """How far frames of an animated view come from their schedule while queries run for ten seconds."""
    server = Streaming(command)
    server.call("map/create", {"id": "m"})
    server.call("view/create", {"id": "v", "map": "m"})
    server.call("overlay/create", {"id": "o", "view": "v"})
    numbers = random.Random(1)
    count = 10_000
    for _ in range(10 if quick else 100):
        x, y = ([numbers.uniform(-80, 80) for _ in range(count)] for _ in "xy")
        server.call("overlay/addColumns", {"overlay": "o", "x": column(x, "d"), "y": column(y, "d"), "attributes": {"n": column(x, "d")}})
    server.call("state/observe", {"paths": ["/views/v/viewpoint"]})
    viewpoint = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [100, 40]}, "targetScale": 1e5}
    server.write({"jsonrpc": "2.0", "id": "a", "method": "view/animateViewpoint", "params": {
        "view": "v", "duration": 3 if quick else 12, "viewpoint": viewpoint}})

    def query(number: int) -> None:
        where = f"n * n / ({number + 1} + n * n) + n * 7 - n / 3 > 8"
        server.write({"jsonrpc": "2.0", "id": f"q{number}", "method": "feature/queryCount", "params": {"overlay": "o", "whereClause": where}})

    query(0)
    frames: list[float] = []
    start, asked = time.perf_counter(), 1
    while time.perf_counter() - start < (2 if quick else 10):
        line = server.process.stdout.readline()
        if b"state/changed" in line[:80]:
            frames.append(time.perf_counter())
        elif b'"id":"q' in line[:60]:
            if b'"result"' not in line:
                sys.exit(f"feature/queryCount failed: {line[:300].decode()}")
            query(asked)
            asked += 1
    # The schedule is that of 30 frames a second from which they are least away.
    phases = sorted((frame * 30) % 1 for frame in frames)
    phase = min(phases, key=lambda phase: sum(min(abs(p - phase), 1 - abs(p - phase)) for p in phases[:: max(1, len(phases) // 100)]))
    away = sorted(min(abs(p - phase), 1 - abs(p - phase)) / 30 * 1e3 for p in phases)
    print(f"frame_p99_milliseconds {away[int(len(away) * 0.99)]:.3f}\nqueries {asked}")
    server.process.kill()


def main() -> None:
    at = sys.argv.index("--")
    command, part, quick = sys.argv[at + 1 :], sys.argv[1], "--quick" in sys.argv[:at]
    if part == "fences":
        fences(command)
    elif part == "memory":
        memory(command, quick)
    elif part == "beside":
        beside(command, quick)
    else:
        for kind in ("columns", "objects"):
            observations(command, kind)
        views(command)
        notification(command)


if __name__ == "__main__":
    main()
