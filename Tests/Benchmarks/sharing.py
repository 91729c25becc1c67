"""Times a server that clients share: its processor time while 100 of them observe a view that moves 30 times a second.

    python3 sharing.py -- COMMAND [ARGS]

prints `observers_cores`, the part of a processor that the server takes.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS, CHANGES, SECONDS = 100, 30, 5


class Line:
    """A client of the socket: messages are lines."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rwb")
        self.call("initialize", {"protocolVersions": ["0.7"]})

    def call(self, method: str, params: dict) -> dict:
        self.file.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        self.file.flush()
        while True:
            message = json.loads(self.file.readline())
            if "id" in message:
                return message["result"]


def processor_seconds(process: int) -> float:
    fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    command = sys.argv[sys.argv.index("--") + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        daemon = subprocess.Popen([*command, "--listen", "bench"], env=environment)
        path = os.path.join(folder, "geomodel-server", "bench.sock")
        while not os.path.exists(path):
            time.sleep(0.01)
        mover = Line(path)
        mover.call("map/create", {"id": "m"})
        mover.call("view/create", {"id": "v", "map": "m"})
        heard = [0] * CLIENTS

        def listen(index: int, client: Line) -> None:
            while client.file.readline():
                heard[index] += 1

        for index in range(CLIENTS):
            client = Line(path)
            client.call("view/observeViewpoint", {"view": "v"})
            threading.Thread(target=listen, args=(index, client), daemon=True).start()
        before, start = processor_seconds(daemon.pid), time.perf_counter()
        for change in range(CHANGES * SECONDS):
            mover.call("view/setViewpoint", {"view": "v", "viewpoint": {"type": "scale", "targetScale": 1e6 + change}})
            time.sleep(max(0.0, start + (change + 1) / CHANGES - time.perf_counter()))
        taken = (processor_seconds(daemon.pid) - before) / (time.perf_counter() - start)
        daemon.terminate()
        daemon.wait()
        if min(heard) < CHANGES * SECONDS:
            sys.exit(f"a client heard {min(heard)} of {CHANGES * SECONDS} changes")
        print(f"observers_cores {taken:.3f}")


if __name__ == "__main__":
    main()
