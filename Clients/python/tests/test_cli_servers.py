"""The command line at a terminal, with a server of its own, and on one that is shared."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import unittest
from pathlib import Path

from command_line import CITIES, COMMAND, CommandLine, Done, environment, run
from support import FIXTURES, SERVER, needs_server


class Terminal:
    """A pseudo-terminal, and what was written on it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.text = ""

    def read_until(self, pattern: str) -> bool:
        """Whether it came before the end."""
        while not re.search(pattern, self.text):
            try:
                data = os.read(self.master, 65536)
            except OSError:  # Linux says so when nobody has the other end any more.
                return False
            if not data:
                return False
            self.text += data.decode()
        return True


@needs_server
class TerminalTests(CommandLine):
    def shown(self, *words: str, **env: str) -> str:
        """What a command writes on a terminal."""
        terminal = Terminal()
        process = subprocess.Popen(
            [*COMMAND, *words], stdin=subprocess.DEVNULL, stdout=terminal.slave, stderr=terminal.slave, cwd=FIXTURES, env=environment(**env)
        )
        os.close(terminal.slave)
        terminal.read_until("(?!)")
        os.close(terminal.master)
        self.assertEqual(process.wait(60), 0, terminal.text)
        return terminal.text

    def test_only_terminals_have_colours_unless_they_are_not_wanted(self) -> None:
        self.assertIn("\x1b[1mlayer   geometry", self.shown("info", CITIES))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b[1m", self.shown("info", CITIES, **env))
        self.assertNotIn("\x1b", self.good("info", CITIES).out)
        self.assertIn("\x1b[1m", self.shown("info", CITIES, NO_COLOR=""))

    def test_a_query_on_a_terminal_is_a_table(self) -> None:
        self.assertIn("Bern  7.4669755 46.9166828", self.shown("query", CITIES, "--where", "name = 'Bern'"))
        long = json.dumps({"type": "Feature", "geometry": None, "properties": {"a": "x" * 100}})
        (self.folder / "long.geojsonl").write_text(long)
        self.assertIn(" " + "x" * 47 + "\u2026", self.shown("query", str(self.folder / "long.geojsonl")))

    def stars(self) -> Path:
        """Polygons so many and so jagged that to relate each with each takes long."""
        import math

        def ring(shift: float) -> list[list[float]]:
            turns = [(step * math.tau / 400, 1 + 0.5 * (step % 2)) for step in range(400)]
            made = [[shift + far * math.cos(turn), far * math.sin(turn)] for turn, far in turns]
            return [*made, made[0]]

        path = self.folder / "stars.geojsonl"
        path.write_text("".join(
            json.dumps({"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring(n / 1000)]}}) + "\n"
            for n in range(100)
        ))
        return path

    def test_a_long_call_has_a_bar_and_control_c_ends_it(self) -> None:
        terminal, trace = Terminal(), self.folder / "trace.jsonl"
        stars = str(self.stars())
        process = subprocess.Popen(
            [*COMMAND, "join", stars, stars, "--predicate", "overlaps", "--count", "--trace-file", str(trace)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal.slave, cwd=FIXTURES, env=environment(),
        )
        os.close(terminal.slave)
        self.assertTrue(terminal.read_until(r"joining \[#*\.*\] +\d+ %"), terminal.text)
        process.send_signal(signal.SIGINT)
        terminal.read_until("(?!)")
        os.close(terminal.master)
        assert process.stdout is not None
        self.assertEqual((process.stdout.read(), process.wait(60)), (b"", 130))
        process.stdout.close()
        # The bar is gone, and nothing is said behind it.
        self.assertTrue(terminal.text.endswith("\r\x1b[K"), terminal.text[-200:])
        self.assertIn("$/cancelRequest", trace.read_text())

    def test_signals_end_a_command_quietly_and_leave_no_file(self) -> None:
        for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            # It waits for standard input, which does not end.
            process = subprocess.Popen(
                [*COMMAND, "query", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FIXTURES,
                env=environment(TMPDIR=str(self.folder)),
            )
            assert process.stdin is not None
            process.stdin.write(b"{" * 70_000)  # More than a pipe holds: it reads when this returns.
            process.stdin.flush()
            process.send_signal(sent)
            self.assertEqual((*process.communicate(timeout=60), process.returncode), (b"", b"", status))
            self.assertEqual(os.listdir(self.folder), [])


@needs_server
class ServerTests(CommandLine):
    def attached(self) -> str:
        """A stand-in for `geomodel-server --attach map`: a server of its own, with a map that is renamed when the pipe `rename` is opened."""
        os.mkfifo(self.folder / "rename")
        return self.script("attached", f"""
            import json, subprocess, sys, threading
            assert sys.argv[1:3] == ["--attach", "map"], sys.argv
            server = subprocess.Popen([{str(SERVER)!r}, *sys.argv[3:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            def read(file):
                length = 0
                while (line := file.readline().strip()):
                    name, _, value = line.partition(b":")
                    length = int(value)
                return json.loads(file.read(length)) if length else None
            def write(file, message):
                body = json.dumps(message).encode()
                file.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
                file.flush()
            def call(method, params, file=server.stdin):
                write(file, {{"jsonrpc": "2.0", "id": "other", "method": method, "params": params}})
            def rename():
                open({str(self.folder / "rename")!r}).close()
                call("map/update", {{"map": "m1", "title": "After", "meta": {{"origin": "other"}}}})
            def answers():
                while (message := read(server.stdout)) is not None:
                    if message.get("id") != "other":
                        write(sys.stdout.buffer, message)
            threading.Thread(target=answers).start()
            while (message := read(sys.stdin.buffer)) is not None:
                write(server.stdin, message)
                if message.get("method") == "initialized":
                    call("map/create", {{"id": "m1", "title": "Before"}})
                    threading.Thread(target=rename, daemon=True).start()
            server.stdin.close()
        """)

    def test_changes_of_a_model_are_lines_of_json(self) -> None:
        process = subprocess.Popen(
            [*COMMAND, "watch", "--attach", "map", "--server", self.attached(), "/maps/*/title", "--limit", "1"], cwd=FIXTURES,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
        )
        assert process.stdout is not None
        self.assertEqual(json.loads(process.stdout.readline())["state"], {"maps": {"m1": {"title": "Before"}}})
        (self.folder / "rename").open("w").close()
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, b""))
        change = json.loads(out)
        self.assertEqual(change["changes"][0]["value"], "After")
        self.assertEqual(change["origins"], [{"type": "client", "name": "other"}])

    def test_the_model_that_is_attached_to_is_shown_and_not_changed(self) -> None:
        words = ("--attach", "map", "--server", self.attached())
        self.assertRegex(self.good("open", *words).out, r"map +m1 +Before +EPSG:3857\n")
        self.assertIn("unknownId", self.refused(1, "query", "nolayer", *words))

    def test_control_c_ends_a_watch(self) -> None:
        process = subprocess.Popen(
            [*COMMAND, "watch", "--open", "document-0.1.json", "/maps/m/title"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=FIXTURES, env=environment(),
        )
        assert process.stdout is not None
        self.assertEqual(json.loads(process.stdout.readline())["state"], {"maps": {"m": {"title": "T"}}})
        process.send_signal(signal.SIGINT)
        self.assertEqual((*process.communicate(timeout=60), process.returncode), (b"", b"", 130))

    def test_serve_and_attach_become_the_server(self) -> None:
        self.assertRegex(self.good("serve", "--version").out, r"\Ageomodel-server \d")
        answer = self.good("serve", stdin='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n').out
        self.assertIn("serverInfo", json.loads(answer)["result"])
        says = self.folder / "says"
        says.write_text('#!/bin/sh\necho "$@"\ngrep SigIgn: /proc/self/status\n')
        says.chmod(0o755)
        words, ignored = run("attach", "map", "--log-level", "info", env=environment(GEOMODEL_SERVER=str(says))).out.splitlines()
        self.assertEqual(words, "--attach map --log-level info")
        # Python ignores SIGPIPE; what follows it does not.
        self.assertFalse(int(ignored.split()[1], 16) >> (signal.SIGPIPE - 1) & 1)


def shares() -> bool:
    """Whether the server can be attached to."""
    return SERVER is not None and "--attach" in subprocess.run([SERVER, "--help"], capture_output=True, text=True).stdout


@unittest.skipUnless(shares(), "no server that can be attached to")
class AttachTests(CommandLine):
    def setUp(self) -> None:
        super().setUp()
        sockets = self.folder / "run"
        sockets.mkdir(0o700)
        self.env = environment(XDG_RUNTIME_DIR=str(sockets))
        self.addCleanup(run, "serve", "--stop", "test", env=self.env)

    def shared(self, command: str, *words: str | Path) -> Done:
        done = run(command, "--attach", "test", *words, env=self.env)
        self.assertEqual((done.status, done.err), (0, ""), words)
        return done

    def test_commands_share_a_model(self) -> None:
        self.assertIn("view model", self.shared("open", "document-0.1.json").out)
        process = subprocess.Popen(
            [*COMMAND, "watch", "--attach", "test", "/maps/m/title", "--limit", "1"], cwd=FIXTURES, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.env,
        )
        assert process.stdout is not None
        self.assertEqual(json.loads(process.stdout.readline())["state"], {"maps": {"m": {"title": "T"}}})
        self.shared("call", "map/update", '{"map": "m", "title": "New"}')
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err, json.loads(out)["changes"][0]["value"]), (0, b"", "New"))
        before = json.loads(self.shared("open", "--json").out)
        self.assertEqual(len(self.shared("query", "countries", "--where", "continent = 'Oceania'").lines), 7)
        self.shared("export", "countries", self.folder / "out.fgb", "-q")
        joined = self.shared("join", "cities", "countries", "--predicate", "within", "--format", "csv").out
        self.assertIn("countries_name", joined.splitlines()[0])
        after = json.loads(self.shared("open", "--json").out)
        self.assertEqual([len(before[kind]) for kind in ("maps", "layers", "sources")],
                         [len(after[kind]) for kind in ("maps", "layers", "sources")])
        for number, words in enumerate((("--view", "v1"), ("cities", "--where", "name LIKE 'B%'"))):
            self.shared("render", *words, "-o", self.folder / f"{number}.png", "-q")
            self.assertTrue((self.folder / f"{number}.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("unknownId", run("query", "--attach", "test", "nolayer", env=self.env).err)
        self.assertIn("test: ", run("serve", "--list", env=self.env).out)

    def test_a_watch_whose_server_ends_says_so(self) -> None:
        self.shared("open")
        process = subprocess.Popen(
            [*COMMAND, "watch", "--attach", "test", "/maps"], cwd=FIXTURES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env
        )
        assert process.stdout is not None
        process.stdout.readline()
        run("serve", "--stop", "test", env=self.env)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (3, b""))
        self.assertRegex(err.decode(), r"\Ageomodel: serverLost: [^\n]+\n\Z")

    def test_a_watch_ends_when_it_is_told_to_and_when_nobody_reads_it(self) -> None:
        self.shared("open")
        for end, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (None, 0)):
            process = subprocess.Popen(
                [*COMMAND, "watch", "--attach", "test", "/maps"], cwd=FIXTURES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env
            )
            assert process.stdout is not None and process.stderr is not None
            process.stdout.readline()
            if end is None:
                process.stdout.close()
            else:
                process.send_signal(end)
            # The last ends by SIGPIPE itself.
            self.assertEqual(process.wait(60), -signal.SIGPIPE if end is None else status)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()

    def test_a_server_that_cannot_start_says_why(self) -> None:
        for name in ("../x", "", "a b"):
            done = run("watch", "--attach", name, "/maps", env=self.env)
            self.assertEqual(done.status, 3)
            self.assertIn("is no name of a server", done.err)
            self.assertNotIn("again", done.err)
