"""The command line `geomodel`, run as people and scripts do, on the real server over real files."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

from command_line import CITIES, COMMAND, WORLD, CommandLine, environment, names, run
from support import FIXTURES, SERVER, SOURCE, needs_server

import geomodel


@needs_server
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

    def test_a_raster_is_shown_opened_and_drawn(self) -> None:
        self.assertEqual(self.good("info", "jacksboro_dem.tif").out, textwrap.dedent("""\
            jacksboro_dem.tif: raster, 403 x 344 pixels, EPSG:4326, -84.41375,36.44625,-84.07791667,36.73291667

            band  type   no data  colours
               0  Int16   -32768  no
        """))
        self.assertEqual(self.good("info", "--json", "tiles.gpkg", "--layer", "DAY").lines[0]["raster"]["width"], 256)
        self.assertRegex(self.good("open", "hills.tif").out, r"\n  layer +layer1 +hills +raster")
        picture = self.folder / "dem.png"
        self.assertIn("800 x 850", self.good("render", "jacksboro_dem.tif", "-o", picture).out)
        # A quarter of a degree by an eighth, in Web Mercator.
        words = ("render", "jacksboro_dem.tif", "--bbox", "-84.3,36.5,-84.05,36.625", "--width", "100", "--json", "-o", picture, "--replace")
        self.assertEqual(self.good(*words).lines[0]["height"], 62)
        self.assertEqual(run("render", "hills.tif", "--where", "a = 1", "-o", picture).status, 2)
        document = self.folder / "grouped.json"
        with geomodel.launch_sync(SERVER, root_path=FIXTURES) as server:
            server.map.create(id="m")
            server.layer.add_group(map="m", id="g")
            server.layer.add_raster(map="m", path="hills.tif", group="g")
            server.document.save_as(path=document)
        self.assertIn("800 x ", self.good("render", document, "-o", self.folder / "grouped.png").out)
        self.assertIn("unknownFormat", run("info", "README.md").err)

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


@needs_server
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


@needs_server
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
        self.assertIn("give it by --layer: cities, countries", self.refused(2, "convert", WORLD, self.folder / "out.geojson"))
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
        self.assertIn("differs from the features: ", done.err)


@needs_server
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
        self.assertIn("give one by --layer: cities, countries", self.refused(2, "query", WORLD))
        self.assertIn("give one by --join-layer: cities, countries; `geomodel join --help`", self.refused(2, "join", CITIES, WORLD))
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


@needs_server
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
