"""The command line `geomodel`, run as people and scripts do, on the real server over real files."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, SOURCE, child_environment, real_server

SERVER = real_server()
FIXTURES = ROOT / "Tests" / "Fixtures"
WORLD, CITIES = "naturalearth_110m.gpkg", "cities.fgb"
COMMAND = [sys.executable, "-m", "geomodel"]


def environment(**more: str) -> dict[str, str]:
    clean = {name: value for name, value in child_environment().items() if name not in ("NO_COLOR", "TERM")}
    return {**clean, "TERM": "xterm", "GEOMODEL_SERVER": str(SERVER), **more}


class Done:
    """What a command did."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status, self.out, self.err = done.returncode, done.stdout.decode(), done.stderr.decode()

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line.lstrip("\x1e")) for line in self.out.split("\n")[:-1]]


def run(*words: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
    return Done(subprocess.run(
        [*COMMAND, *map(str, words)], input=stdin.encode(), capture_output=True, cwd=FIXTURES, timeout=120, env=env or environment()
    ))


def names(features: list[Any]) -> list[str]:
    return [feature["properties"]["name"] for feature in features]


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def good(self, *words: str | Path, stdin: str = "") -> Done:
        done = run(*words, stdin=stdin)
        self.assertEqual((done.status, done.err), (0, ""), words)
        return done

    def refused(self, status: int, *words: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> str:
        """What a command says that fails: a line without a traceback, and the same as an object."""
        done = run(*words, stdin=stdin, env=env)
        self.assertEqual((done.status, done.out), (status, ""), done.err)
        self.assertRegex(done.err, r"\Ageomodel: [^\n]+\n\Z")
        with_json = run(*words, "--json", stdin=stdin, env=env)
        said = json.loads(with_json.err)
        self.assertEqual((with_json.status, with_json.out), (status, ""))
        self.assertIn(f"{said['kind']}: ", done.err)
        if "next" in said:
            self.assertIn(said["next"], done.err)
        return done.err

    def script(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class AskingTests(CommandLine):
    def test_info_is_an_aligned_table(self) -> None:
        self.assertEqual(self.good("info", WORLD).out, textwrap.dedent("""\
            naturalearth_110m.gpkg: GPKG, 2 layers

            layer      geometry      features  reference  extent
            cities     Point              243  EPSG:4326  -175.2205645,-41.29206799,179.2166471,64.14345946
            countries  MultiPolygon       177  EPSG:4326  -180,-90,180,83.64513

            layer      field       type
            cities     name        string
            countries  pop_est     double
            countries  continent   string
            countries  name        string
            countries  iso_a3      string
            countries  gdp_md_est  integer
        """))

    def test_info_for_programs_is_an_object_a_file(self) -> None:
        first, second = self.good("info", "--json", CITIES, "cities.shp").lines
        self.assertEqual((first["file"], first["driver"], second["driver"]), (CITIES, "FlatGeobuf", "ESRI Shapefile"))
        self.assertEqual(first["layers"][0]["featureCount"], 243)

    def test_a_table_of_a_query_is_sorted_and_has_the_fields_that_are_asked_for(self) -> None:
        words = ("query", WORLD, "--layer", "countries", "--where", "continent = 'Africa'", "--fields", "name,pop_est")
        self.assertEqual(self.good(*words, "--sort", "pop_est:desc", "--limit", "2", "--format", "table").out, textwrap.dedent("""\
             id  name        pop_est  geometry
             57  Nigeria   200963599  MultiPolygon
            166  Ethiopia  112078730  MultiPolygon
        """))

    def test_the_forms_of_a_query_have_the_same_features(self) -> None:
        words = ("query", CITIES, "--bbox", "-10,35,5,48")
        lines = self.good(*words).lines
        self.assertEqual(sorted(names(lines)), ["Algiers", "Andorra", "Lisbon", "Madrid"])
        sequence = self.good(*words, "--format", "geojsonseq")
        self.assertTrue(all(line.startswith("\x1e{") for line in sequence.out.split("\n")[:-1]))
        self.assertEqual(sequence.lines, lines)
        collection = json.loads(self.good(*words, "--json").out)
        self.assertEqual((collection["type"], collection["features"]), ("FeatureCollection", lines))
        rows = list(csv.DictReader(io.StringIO(self.good(*words, "--format", "csv").out)))
        self.assertEqual([[row["name"], float(row["x"])] for row in rows],
                         [[line["properties"]["name"], line["geometry"]["coordinates"][0]] for line in lines])
        self.assertEqual(self.good(*words, "--count").out, "4\n")
        self.assertEqual(json.loads(self.good(*words, "--count", "--json").out), {"count": 4})

    def test_a_collection_in_another_reference_says_so_and_a_sequence_refuses_it(self) -> None:
        collection = json.loads(self.good("query", CITIES, "--json", "--limit", "1", "--to-srs", "EPSG:3857").out)
        self.assertEqual(collection["crs"]["properties"]["name"], "EPSG:3857")
        self.assertGreater(collection["features"][0]["geometry"]["coordinates"][0], 1e6)
        done = run("query", CITIES, "--to-srs", "EPSG:3857")
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn("geojsonl is in EPSG:4326 only", done.err)

    def test_the_nearest_come_with_their_distance_in_metres(self) -> None:
        found = self.good("query", CITIES, "--near", "7.44,46.95", "--limit", "2").lines
        self.assertEqual(names(found), ["Bern", "Geneva"])
        self.assertAlmostEqual(found[0]["properties"]["distance"], 4235.362, places=3)
        self.assertEqual(names(self.good("query", CITIES, "--near=7.44,46.95", "--within", "9000").lines), ["Bern"])
        rows = list(csv.DictReader(io.StringIO(self.good("query", CITIES, "--near", "-3.7,40.4", "--limit", "1", "--format", "csv").out)))
        self.assertEqual([row["name"] for row in rows], ["Madrid"])

    def test_a_long_table_says_what_it_leaves_out(self) -> None:
        done = run("query", CITIES, "--format", "table")
        self.assertEqual((done.status, len(done.out.splitlines())), (0, 51))
        self.assertEqual(done.err, "geomodel: 50 of 243 features; --limit 243 shows all\n")
        self.assertEqual(run("query", CITIES, "--format", "table", "-q").err, "")

    def test_cells_cannot_command_the_terminal_and_are_as_wide_as_they_look(self) -> None:
        lines = "".join(
            json.dumps({"type": "Feature", "geometry": None, "properties": {"a": text, "b": 1}}) + "\n"
            for text in ("x\x1b[31m\ny", "\u6771\u4eac", "e\u0301")
        )
        table = self.good("query", "-", "--format", "table", stdin=lines).out.splitlines()
        self.assertEqual(table[1], " 0  x\\x1b[31m\\ny  1")
        self.assertEqual(table[2], " 1  \u6771\u4eac          1")
        self.assertEqual(table[3], " 2  e\u0301             1")

    def test_text_is_utf8_in_pipes_whatever_the_locale(self) -> None:
        env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        done = run("query", CITIES, "--where", "name LIKE 'S_o Tom%'", env=env)
        self.assertEqual((done.status, names(done.lines)), (0, ["S\u00e3o Tom\u00e9"]))

    def test_open_shows_what_a_document_holds(self) -> None:
        shown = self.good("open", "document-0.1.json").out
        self.assertIn("map                m          T                       EPSG:4326\n", shown)
        self.assertRegex(shown, r"\n      layer +deep +inline +Point +2\n")
        self.assertRegex(shown, r"\nview +v1 +of m1 +800 x 600\n  overlay +o1 +3\n")
        model = json.loads(self.good("open", "document-0.1.json", "--json").out)
        self.assertEqual([each["map"] for each in model["maps"]], ["m", "m1"])
        self.assertRegex(self.good("open", CITIES).out, r"source +source1 +cities.fgb +FlatGeobuf\n  layer +cities +Point +243\n")

    def test_joined_features_have_the_fields_of_both(self) -> None:
        words = ("join", WORLD, WORLD, "--layer", "cities", "--join-layer", "countries", "--predicate", "within")
        pairs = self.good(*words, "--join-fields", "name,iso_a3").lines
        by_city = {each["properties"]["name"]: each["properties"] for each in pairs}
        self.assertEqual(by_city["Paris"], {"name": "Paris", "countries_name": "France", "iso_a3": "FRA"})
        self.assertEqual(pairs[0]["geometry"]["type"], "Point")
        counts = self.good("join", WORLD, CITIES, "--layer", "countries", "--count", "--fields", "name", "--predicate", "contains").lines
        self.assertEqual(len(counts), 177)
        self.assertEqual(sum(each["properties"]["count"] for each in counts), len(pairs))
        nearest = self.good("join", "cities.shp", CITIES, "--predicate", "nearest", "--nearest", "2", "--limit", "2").lines
        self.assertEqual([each["properties"]["cities_name"] for each in nearest], ["Vatican City", "Rome"])
        self.assertAlmostEqual(nearest[1]["properties"]["distance"], 2393.123, places=3)
        rows = list(csv.DictReader(io.StringIO(self.good(*words, "--join-where", "iso_a3 = 'FRA'", "--format", "csv").out)))
        self.assertTrue(rows and {row["iso_a3"] for row in rows} == {"FRA"})


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class PipeTests(CommandLine):
    def test_features_go_through_pipes_in_all_three_forms(self) -> None:
        for form in ("geojsonl", "geojsonseq", "geojson"):
            sent = self.good("query", CITIES, "--bbox", "5,45,11,48", "--format", form).out
            self.assertEqual(names(self.good("query", "-", stdin=sent).lines), ["Bern", "Geneva", "Vaduz"], form)
        joined = self.good("join", "-", WORLD, "--join-layer", "countries", "--predicate", "within", "--join-fields", "iso_a3", stdin=sent)
        self.assertEqual([each["properties"]["iso_a3"] for each in joined.lines], ["CHE", "FRA", "AUT"])
        self.assertEqual(self.good("query", "-", stdin="").out, "")

    def test_a_reader_that_has_enough_ends_the_command_quietly(self) -> None:
        process = subprocess.Popen(
            [*COMMAND, "query", WORLD, "--layer", "countries"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FIXTURES,
            env=environment(),
        )
        assert process.stdout is not None and process.stderr is not None
        self.assertIn(b"Feature", process.stdout.readline())
        process.stdout.close()
        self.assertEqual((process.stderr.read(), process.wait(60)), (b"", -signal.SIGPIPE))
        process.stderr.close()

    def test_a_full_disk_is_an_error(self) -> None:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*COMMAND, "info", CITIES], stdout=full, stderr=subprocess.PIPE, cwd=FIXTURES, env=environment())
        self.assertEqual((done.returncode, done.stderr), (4, b"geomodel: system: No space left on device\n"))


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class WritingTests(CommandLine):
    def test_a_file_is_converted_to_each_format_and_back(self) -> None:
        for suffix in ("gpkg", "geojson", "geojsonl", "csv", "shp", "kml", "gpx", "fgb"):
            out = self.folder / f"out.{suffix}"
            done = run("convert", CITIES, out, "-q")
            self.assertEqual((done.status, done.out, done.err), (0, "", ""), suffix)
            words = ("-q", "--x-field", "x", "--y-field", "y") if suffix == "csv" else ("--layer", "waypoints") if suffix == "gpx" else ()
            self.assertEqual(self.good("query", out, "--count", *words).out, "243\n", suffix)

    def test_all_layers_of_a_file_are_converted_at_once_or_none(self) -> None:
        out = self.folder / "out.gpkg"
        said = self.good("convert", WORLD, out, "--to-srs", "EPSG:3857").out
        self.assertEqual([line.rpartition(" ")[2] for line in said.splitlines()], ["cities", "countries"])
        layers = json.loads(self.good("info", out, "--json").out)["layers"]
        self.assertEqual([(each["featureCount"], each["spatialReference"]) for each in layers], [(243, "EPSG:3857"), (177, "EPSG:3857")])
        self.assertIn("--replace", self.refused(4, "convert", WORLD, out))
        self.good("convert", WORLD, out, "--replace")
        self.assertIn("has no layers to add one to", self.refused(1, "convert", WORLD, self.folder / "out.geojson"))
        self.assertEqual(os.listdir(self.folder), ["out.gpkg"])

    def test_what_matches_is_exported(self) -> None:
        out = self.folder / "africa.geojson"
        written = json.loads(
            self.good("export", WORLD, out, "--layer", "countries", "--where", "continent = 'Africa'", "--fields", "name", "--json").out
        )
        self.assertEqual((written["count"], written["driver"]), (51, "GeoJSON"))
        self.assertEqual(set(json.loads(out.read_text())["features"][0]["properties"]), {"name"})
        self.assertIn("--replace", self.refused(1, "export", WORLD, out, "--layer", "countries"))
        lines = self.good("export", WORLD, "-", "--layer", "countries", "--where", "continent = 'Africa'").lines
        self.assertEqual(len(lines), 51)

    def test_what_a_format_cannot_hold_is_said(self) -> None:
        done = run("convert", "types.gpkg", self.folder / "out.csv")
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("is not in all as the features are: ", done.err)


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class FailureTests(CommandLine):
    def test_an_error_is_one_line_that_says_what_to_do(self) -> None:
        self.assertIn("fileNotFound: There is no file ", self.refused(1, "info", "nowhere.gpkg"))
        self.assertIn("`geomodel info FILE` lists the fields", self.refused(1, "query", CITIES, "--where", "nam = 'x'"))
        self.assertIn("--where takes CQL2", self.refused(1, "query", CITIES, "--where", "name = = 'x'"))
        self.assertIn("standard input", self.refused(1, "info", "-", stdin="junk"))
        self.assertIn("`GPKG`", self.refused(1, "convert", CITIES, self.folder / "out.foo"))
        self.assertIn("invalidDocument", self.refused(1, "open", self.written("d.json", '{"format": "geomodel-document"}')))
        self.assertIn("`geomodel open`", self.refused(2, "info", "document-0.1.json"))
        self.assertIn("openFailed", self.refused(1, "info", self.written("broken.geojson", '{"type": "FeatureCollection", "feat')))

    def written(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def test_a_wrong_command_line_is_status_2(self) -> None:
        self.assertIn("cities, countries", self.refused(2, "query", WORLD))
        self.assertIn("no layer 'citis'", self.refused(2, "query", WORLD, "--layer", "citis"))
        for words in (
            ("query", CITIES, "--bbox", "1,2,3"), ("query", CITIES, "--bbox", "1,2,3,nan"), ("query", CITIES, "--limit", "-1"),
            ("query", CITIES, "--format", "xml"), ("query", CITIES, "--within", "5"), ("query", CITIES, "--near", "x"), ("query",),
            ("query", CITIES, "--fo"), ("join", "-", "-"), ("join", CITIES, CITIES, "--predicate", "foo"), ("info",), ("open",),
            ("watch", "/maps"), ("completion", "csh"), ("qery",), ("--foo",), ("call", "{}"),
            ("query", CITIES, "--where", b"\xff".decode("utf-8", "surrogateescape")),
        ):
            self.refused(2, *words)
        self.assertIn("did you mean query?", self.refused(2, "qery"))

    def test_help_and_version_are_no_failures(self) -> None:
        self.assertIn("  info        show the layers of files", self.good("--help").out)
        self.assertRegex(self.good("--version").out, r"\Ageomodel \d")
        self.assertEqual(run().status, 2)
        from geomodel.cli._commands import COMMANDS

        for name in COMMANDS:
            self.assertIn(f"usage: geomodel {name}", self.good(name, "--help").out)

    def test_no_server_is_status_3(self) -> None:
        self.assertIn("--server PATH", self.refused(3, "info", CITIES, "--server", "/nowhere"))
        dies = self.script("dies", "import sys; sys.exit('it cannot')")
        self.assertIn("ended with status 1 it cannot", self.refused(3, "info", CITIES, "--server", dies))
        other = self.script("other", """
            import json, sys
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "99"}})
            print(f"Content-Length: {len(body)}\\r\\n\\r\\n{body}", end="", flush=True)
            sys.stdin.buffer.read()
        """)
        self.assertIn("speaks another protocol", self.refused(3, "info", CITIES, "--server", other))


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


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
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


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
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


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class RenderTests(CommandLine):
    def size(self, data: bytes) -> tuple[int, int]:
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        return width, height

    def test_a_file_is_drawn_with_all_its_layers_as_high_as_they_need(self) -> None:
        out = self.folder / "world.png"
        said = self.good("render", WORLD, "-o", out, "--labels", "name", "--legend", "--scale-bar", "--title", "World").out
        self.assertRegex(said, r"\A[^\n]*world\.png: 800 x 393, [\d,]+ bytes, PNG, \d+ labels, no room for \d+\n\Z")
        self.assertEqual(self.size(out.read_bytes()), (800, 393))
        self.assertIn("fileExists", self.refused(1, "render", WORLD, "-o", out))
        self.good("render", WORLD, "-o", out, "--replace", "--width", "300", "--height", "200", "--ratio", "2", "-q")
        self.assertEqual(self.size(out.read_bytes()), (600, 400))

    def test_formats_are_told_by_the_suffix(self) -> None:
        words = ("render", WORLD, "--layer", "countries", "--where", "continent = 'Africa'", "--labels", "name")
        for name, head in (("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("a.PNG", b"\x89PNG")):
            self.assertEqual(json.loads(self.good(*words, "-o", self.folder / name, "--json").out)["format"], name[2:].lower())
            self.assertTrue((self.folder / name).read_bytes().startswith(head))
        self.assertIn("says no format", self.refused(2, *words, "-o", self.folder / "a.gif"))

    def test_a_pipe_gets_the_picture_and_a_terminal_does_not(self) -> None:
        lines = self.good("query", CITIES, "--bbox", "5,45,20,60").out
        done = subprocess.run(
            [*COMMAND, "render", "-", "--labels", "name", "--width", "200"], input=lines.encode(), capture_output=True, cwd=FIXTURES, env=environment()
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.size(done.stdout)[0], 200)
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        shown = subprocess.run([*COMMAND, "render", CITIES], stdout=slave, stderr=subprocess.PIPE, cwd=FIXTURES, env=environment())
        os.close(slave)
        self.assertEqual(shown.returncode, 2)
        self.assertIn(b"no text for a terminal", shown.stderr)

    def test_views_of_documents_and_what_is_missing(self) -> None:
        out = self.folder / "view.png"
        self.good("render", "document-0.1.json", "--view", "v1", "-o", out)
        self.assertEqual(self.size(out.read_bytes()), (800, 600))
        self.assertIn("several views; name one by --view: sv, v1, v", self.refused(2, "render", "document-0.1.json", "-o", out))
        self.assertIn("no layer 'roads' with geometries; it has: cities, countries", self.refused(2, "render", WORLD, "--layer", "roads", "-o", out))
        self.assertIn("name a file", self.refused(2, "render", "-o", out))
        self.assertIn("--labels is not for a document", self.refused(2, "render", "document-0.1.json", "--labels", "name", "-o", out))


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


class DefinitionTests(CommandLine):
    """What follows from the definitions of the arguments."""

    def test_the_manual_page_is_fresh(self) -> None:
        page = run("man").out
        path = SOURCE.parent / "man" / "geomodel.1"
        self.assertEqual(path.read_text(encoding="utf-8"), page, "geomodel man > Clients/python/man/geomodel.1")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page.encode(), capture_output=True)
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))

    def completed(self, *words: str) -> list[str]:
        """What bash completes the last word to."""
        script = (
            f'. /dev/stdin; COMP_WORDS=({" ".join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _geomodel; '
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", script], input=run("completion", "bash").out, capture_output=True, text=True, cwd=FIXTURES)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes_commands_options_values_and_files(self) -> None:
        self.assertEqual(self.completed("geomodel", "con"), ["convert"])
        self.assertEqual(self.completed("geomodel", "render", "--format", "p"), ["png", "pdf"])
        self.assertEqual(self.completed("geomodel", "query", "--wi"), ["--within"])
        self.assertEqual(self.completed("geomodel", "query", "--format", "geojsons"), ["geojsonseq"])
        self.assertEqual(self.completed("geomodel", "join", "a", "b", "--predicate", "with"), ["within", "withinDistance"])
        self.assertEqual(self.completed("geomodel", "info", "cities.f"), ["cities.fgb"])
        self.assertEqual(self.completed("geomodel", "completion", "f"), ["fish"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_its_completion(self) -> None:
        script = self.folder / "_geomodel"
        script.write_text(run("completion", "zsh").out)
        done = subprocess.run(
            ["zsh", "-f", "-c", f"autoload -U compinit; compinit -u -D; . {script}; echo $_comps[geomodel]"], capture_output=True, text=True
        )
        self.assertEqual((done.stdout, done.stderr), ("_geomodel\n", ""))

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes_commands_options_and_values(self) -> None:
        script = self.folder / "geomodel.fish"
        script.write_text(run("completion", "fish").out)

        def completed(line: str) -> list[str]:
            done = subprocess.run(["fish", "-N", "-c", f"source {script}; complete -C '{line}'"], capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            return [each.split("\t")[0] for each in done.stdout.splitlines()]

        self.assertEqual(completed("geomodel con"), ["convert"])
        self.assertEqual(completed("geomodel query --wit"), ["--within"])
        self.assertEqual(completed("geomodel query --format geojsons"), ["geojsonseq"])

    def test_a_command_imports_no_more_than_it_needs(self) -> None:
        script = (
            "import sys\nfrom geomodel.cli import main\nstatus = main(['info', '/nowhere', '--server', '/nowhere'])\n"
            "print(status, *(name for name in ('asyncio', 'dataclasses', 'inspect', 'logging', 'pathlib', 'geomodel._connection',"
            " 'geomodel._generated.types') if name in sys.modules))\n"
        )
        done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, env=environment(GEOMODEL_SERVER="/nowhere"))
        self.assertEqual(done.stdout, "3\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
