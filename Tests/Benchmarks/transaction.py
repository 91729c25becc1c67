"""Times 10,000 updates of graphics: in one bulk call, in a transaction of 100 commands, in one of 10,000.

    python3 transaction.py -- COMMAND [ARGS]

prints medians in seconds, one per line, as the C programs beside it do. Messages are lines over pipes; the time runs from
writing the request to having read its answer.

10,000 commands are three times the text of one bulk call, and jansson alone takes longer to parse that than the whole bulk call takes.
So they are compared with the bulk call plus the time to read their longer text (`single_bulk_seconds`). The reading time is that of a request
with the same params and an unknown method.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

GRAPHICS = 100_000
UPDATES = 10_000


class Server:
    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.requests = 0
        self.call("initialize", {"protocolVersions": ["0.7"]})
        self.write({"jsonrpc": "2.0", "method": "initialized"})

    def write(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        self.process.stdin.flush()

    def reading(self, params: dict) -> float:
        return self.call("bench/nothing", params, "error")

    def call(self, method: str, params: dict, member: str = "result") -> float:
        self.requests += 1
        message = {"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        start = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        taken = time.perf_counter() - start
        if member not in json.loads(answer):
            sys.exit(f"{method} failed: {answer[:300].decode()}")
        return taken


def commands(updates: list[dict], size: int) -> dict:
    return {
        "commands": [
            {"method": "overlay/updateGraphics", "params": {"overlay": "o", "graphics": updates[start : start + size]}}
            for start in range(0, len(updates), size)
        ]
    }


def main() -> None:
    server = Server(sys.argv[sys.argv.index("--") + 1 :])
    server.call("map/create", {"id": "m"})
    server.call("view/create", {"id": "v", "map": "m"})
    server.call("overlay/create", {"id": "o", "view": "v"})
    for start in range(0, GRAPHICS, 10_000):
        server.call("overlay/addGraphics", {"overlay": "o", "graphics": [
            {"geometry": {"type": "Point", "coordinates": [i / 1000, i / 2000]}, "attributes": {"name": f"g{i}", "n": i}}
            for i in range(start, start + 10_000)]})
    names = ["bulk", "transaction", "single"]
    taken: dict[str, list[float]] = {name: [] for name in names}
    read: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(11):
        for index, name in enumerate(names):
            # Other values each time: an equal value is no change.
            updates = [{"id": i, "attributes": {"n": -3 * turn - index}} for i in range(UPDATES)]
            if name == "bulk":
                method, params = "overlay/updateGraphics", {"overlay": "o", "graphics": updates}
            else:
                method, params = "model/apply", commands(updates, 100 if name == "transaction" else 1)
            taken[name].append(server.call(method, params))
            read[name].append(server.reading(params))
    for name, times in taken.items():
        print(f"{name}_seconds {statistics.median(times):.6f}")
    longer = statistics.median(read["single"]) - statistics.median(read["bulk"])
    print(f"single_bulk_seconds {statistics.median(taken['bulk']) + longer:.6f}")
    server.process.stdin.close()
    server.process.wait(10)


if __name__ == "__main__":
    main()
