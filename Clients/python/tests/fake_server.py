"""A server for the client's own tests: the framing, the lifecycle, and misbehaviour on demand."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from typing import Any

stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
write_lock = threading.Lock()
framing = "headers"
cancelled: set[Any] = set()
working: set[Any] = set()  # The ids of requests that are not answered yet.
wake = threading.Condition()
subscriptions = 0
log: list[Any] = []  # What came: tests ask for it.


def read() -> Any:
    global framing
    line = stdin.readline()
    while line in (b"\n", b"\r\n"):
        line = stdin.readline()
    if not line:
        return None
    if line[:1] in b"{[":
        framing = "lines"
        return json.loads(line)
    lengths = {}
    while line.strip():
        name, _, value = line.partition(b":")
        lengths[name.lower()] = int(value)
        line = stdin.readline()
    data = stdin.read(lengths[b"content-length"])
    size = len(data) - lengths.get(b"attachment-length", 0)
    message = json.loads(data[:size])
    if size < len(data):
        message["attachments"] = data[size:]
    return message


def frame(message: Any) -> bytes:
    attachments = message.pop("attachments", b"")
    body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
    head = b"Content-Length: %d\r\n" % (len(body) + len(attachments))
    head += b"Attachment-Length: %d\r\n" % len(attachments) if attachments else b""
    return body + b"\n" if framing == "lines" else head + b"\r\n" + body + attachments


def write(*messages: Any) -> None:
    with write_lock:
        stdout.write(b"".join(map(frame, messages)))  # In one write, so that they are read together.
        stdout.flush()


def reply(request: Any, result: Any) -> Any:
    return {"id": request["id"], "result": result}


def fail(request: Any, code: int, kind: str, **data: Any) -> Any:
    return {"id": request["id"], "error": {"code": code, "message": f"it is {kind}", "data": {"kind": kind, **data}}}


def refusal(kind: str, **data: Any) -> Any:
    return fail({"id": None}, -32600, kind, **data)


def changed(handle: str, base: int, value: Any, path: str = "/views/v1/n", **more: Any) -> Any:
    changes = [{"op": "replace", "path": path, "value": value}]
    return {
        "method": "state/changed",
        "params": {"subscription": handle, "base": base, "revision": base + 1, "origins": [], "changes": changes, **more},
    }


def slow(request: Any) -> None:
    """Works until it is cancelled or its seconds are over."""
    params = request["params"]
    token = params.get("meta", {}).get("progressToken")
    deadline = time.monotonic() + params.get("seconds", 10)
    percent = 0
    with wake:
        while request["id"] not in cancelled and time.monotonic() < deadline:
            if token is not None and percent <= 100:
                write({"method": "$/progress", "params": {"token": token, "value": {"kind": "report", "percentage": percent}}})
                percent += 50
            wake.wait(0.02)
        done = request["id"] not in cancelled
    if not done and params.get("answersAnyway"):
        # Long enough for the client to have given up on it.
        time.sleep(0.05)
        done = True
    if done and params.get("makes"):
        write(reply(request, {"subscription": "late", "revision": 0, "snapshot": []}))
    else:
        write(reply(request, {"slept": True}) if done else fail(request, -32800, "cancelled"))
    working.discard(request["id"])
    log.append({"method": "(slow answered)"})


def observe(request: Any) -> None:
    global subscriptions
    subscriptions += 1
    handle = f"sub{subscriptions}"
    path = request["params"]["paths"][0]
    answer = {"subscription": handle, "revision": 7, "snapshot": [{"path": "/views/v1/n", "value": 0}]}
    if path == "/early":  # Deltas in the same read as the reply.
        write(reply(request, answer), changed(handle, 7, 1), changed(handle, 8, 2))
    elif path == "/parts":
        del answer["snapshot"]
        part = {"subscription": handle, "revision": 7, "isLast": False, "values": [{"path": "/views/v1", "value": {"n": 0}}]}
        last = {**part, "isLast": True, "values": [{"path": "/views/v1", "value": {"m": [1]}}]}
        write(
            reply(request, answer),
            {"method": "state/snapshotPart", "params": part}, {"method": "state/snapshotPart", "params": last},
            {"method": "state/changed", "params": {**changed(handle, 7, 5)["params"], "isLast": False}},
            {"method": "state/changed", "params": {**changed(handle, 7, 2, "/views/v1/m/0")["params"], "isLast": True}},
        )
    elif path == "/resync":
        resynced = {"subscription": handle, "revision": 99, "snapshot": [{"path": "/views/v1/n", "value": 42}]}
        write(reply(request, answer), {"method": "state/resynced", "params": resynced}, changed(handle, 99, 43))
    elif path == "/gap":
        write(reply(request, answer), changed(handle, 9, 1))
    elif path == "/many":
        write(reply(request, answer), *(changed(handle, 7 + n, n) for n in range(request["params"]["maxRate"])))
    else:
        write(reply(request, answer))


def handle(request: Any) -> None:
    method, params = request["method"], request.get("params", {})
    if request["id"] in working:
        write(refusal("invalidRequest", offendingId=request["id"]))
    elif method == "initialize":
        if "--unread" in sys.argv:
            write(refusal("parseError"))
            return
        if "--refuse" in sys.argv:
            write(fail(request, -31000, "versionMismatch", supported=["9"]))
            return
        if "--mute" in sys.argv:
            return
        info = {"name": "fake", "version": "0"}
        version = params["protocolVersions"][0]
        write(reply(request, {"protocolVersion": version, "serverInfo": info, "capabilities": {"cwd": os.getcwd(), "attachments": "--attach" in sys.argv}}))
    elif method == "session/echo":
        write({**reply(request, params), "attachments": request.get("attachments", b"")})
    elif method == "test/misplace":  # Bytes that are not attached.
        column = {"type": "int64", "data": {"offset": 8, "length": 16}}
        write({**reply(request, {"column": column}), "attachments": bytes(16)})
    elif method == "test/stopReading":  # It lives on, and reads nothing more until a signal comes.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        write(reply(request, {}))
        signal.sigwait({signal.SIGUSR1})
    elif method == "test/notify":
        count = params["count"]
        write(*({"method": "test/notified", "params": {"n": n}} for n in range(count)), reply(request, {"count": count}))
    elif method == "test/refuse":  # As a message that could not be read: the answer does not say which it was.
        write(refusal(params.get("kind", "tooDeep")))
    elif method in ("test/slow", "view/observeViewpoint"):
        working.add(request["id"])
        threading.Thread(target=slow, args=(request,), daemon=True).start()
    elif method == "state/observe":
        observe(request)
    elif method == "state/unobserve":
        write(reply(request, {"revision": 7}))
    elif method == "test/ask":  # A request of the server's, which the client has to refuse.
        write({"id": "mine", "method": "client/do", "params": {}}, reply(request, {}))
    elif method == "test/log":
        write(reply(request, {"log": [{name: each[name] for name in each if name != "attachments"} for each in log]}))
    elif method == "test/fileSizeLimit":
        write(reply(request, {"bytes": resource.getrlimit(resource.RLIMIT_FSIZE)[0]}))
    elif method == "test/die":
        sys.stderr.write("first line\nlast words\n")
        sys.stderr.flush()
        os._exit(params.get("status", 3))
    elif method == "test/closeOutput":
        os.close(1)
        # A server that says nothing more but lives.
        time.sleep(60)
    elif method == "test/garbage":
        with write_lock:
            stdout.write(frame({"id": 1})[:-3] + b"}}}")
            stdout.flush()
    elif method == "shutdown":
        if "--stubborn" not in sys.argv:
            write(reply(request, {}))
    elif method == "map/get":
        write(fail(request, -31010, "unknownId", id=params.get("map"), path="/params/map", expected="a map"))
    elif method == "view/get":
        write(fail(request, -31010, "unknownId", id=params.get("view"), path="/params/view", expected="a view"))
    else:
        write(fail(request, -32601, "unknownMethod"))


def main() -> None:
    if "--dead" in sys.argv:
        sys.exit("no such flag")
    if "--noisy" in sys.argv:
        sys.stderr.write("x" * 79 + "\n" * 1)
        sys.stderr.write(("y" * 79 + "\n") * 20_000)
        sys.stderr.flush()
    while True:
        message = read()
        if message is None:
            if "--stubborn" in sys.argv:
                # It does not end with its input: the client has to end it.
                time.sleep(60)
            return
        log.append(message)
        if message.get("method") == "$/cancelRequest":
            with wake:
                cancelled.add(message["params"]["id"])
                wake.notify_all()
        elif message.get("method") == "exit":
            if "--stubborn" not in sys.argv:
                os._exit(0)
        elif "id" in message and "method" in message:
            handle(message)
        elif message.get("method") == "test/refuse":
            write(refusal("parseError"))


main()
