"""The predicates of CQL2's abstract test suite (OGC 21-065r2, annex A) and the examples of its schema, in both encodings.

`Tests/Fixtures/README.md` says where they come from.
"""

from __future__ import annotations

import csv
import json
import random
import re
import unittest
from typing import Any, Callable, Iterator

from support import ROOT, SERVER, needs_server

import geomodel

FILES = ROOT / "Tests" / "Fixtures"
# The fields of the suite's data sources, of which the others here have other names or none.
NAMES = {"NAME": "name", "POP_EST": "pop_est"}
TYPES = {
    "pop_max": "integer", "pop_min": "integer", "pop_other": "integer", "date": "date", "start": "dateTime",
    "end": "dateTime", "boolean": "boolean", "name": "string", "nameascii": "string",
}
COMPARISONS = ["=", "<>", ">", "<", ">=", "<="]
MIRRORED = {"=": "=", "<>": "<>", ">": "<", "<": ">", ">=": "<=", "<=": ">="}
VALUES = {
    "string": "'foo'", "boolean": "true", "double": "3.14", "integer": "1",
    "dateTime": "TIMESTAMP('2022-04-14T14:48:46Z')", "date": "DATE('2022-04-14')",
}
INTERVAL_FUNCTIONS = [
    "T_AFTER", "T_BEFORE", "T_DISJOINT", "T_EQUALS", "T_INTERSECTS", "T_CONTAINS", "T_DURING", "T_FINISHEDBY", "T_FINISHES",
    "T_MEETS", "T_METBY", "T_OVERLAPPEDBY", "T_OVERLAPS", "T_STARTEDBY", "T_STARTS",
]
WORLD = "POLYGON((-180 -90,180 -90,180 90,-180 90,-180 -90))"
LOGIC = "((NOT {} AND {}) OR ({} and NOT {}) or not ({} AND {}))"


def predicates() -> Iterator[tuple[str, int, str]]:
    """Data source, number of features and predicate. In parentheses is the suite's number, where its data differ."""
    layer = ""
    for line in (FILES / "cql2" / "predicates.txt").read_text().splitlines():
        if line.startswith("["):
            layer = line[1:-1].split()[1]
            continue
        count, predicate = line.split("\t")
        if layer == "countries":
            for theirs, ours in NAMES.items():
                predicate = re.sub(rf"\b{theirs}\b", ours, predicate)
        yield layer, int(count.split()[0]), predicate


def column(type: str, texts: list[str]) -> list[Any]:
    read: Callable[[str], Any] = {"integer": int, "boolean": lambda text: text == "true"}.get(type, str)
    return [read(text) if text else None for text in texts]


@needs_server
class CQL2Tests(unittest.TestCase):
    server: geomodel.SyncServer

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = geomodel.launch_sync(SERVER, root_path=str(FILES))
        cls.addClassCleanup(cls.server.close)
        cls.server.map.create(id="m")
        with (FILES / "cql2" / "places.csv").open() as file:
            rows = list(csv.DictReader(file))
        cls.server.source.open_inline(
            id="source-places", fields=[{"name": name, "type": type} for name, type in TYPES.items()],
            columns={
                "x": [float(row["x"]) for row in rows], "y": [float(row["y"]) for row in rows],
                "attributes": {name: column(type, [row[name] for row in rows]) for name, type in TYPES.items()},
            })
        with (FILES / "cql2" / "rivers.csv").open() as file:
            cls.server.source.open_inline(id="source-rivers", data={
                "type": "FeatureCollection", "features": [
                    {"type": "Feature", "properties": {"name": row["name"]}, "geometry": line(row["geom"])}
                    for row in csv.DictReader(file, delimiter=";")]})
        cls.server.source.open(id="source-countries", path="naturalearth_110m.gpkg")
        cls.fields: dict[str, dict[str, str]] = {}
        for name in ["places", "rivers", "countries"]:
            cls.server.layer.add(
                id=name, map="m", source=f"source-{name}", source_layer="countries" if name == "countries" else "inline")
            cls.server.layer.load(layer=name)
            cls.fields[name] = {
                field["name"]: field["type"] for field in cls.server.layer.get(layer=name)["fields"]}

    def ids(self, layer: str, expression: Any) -> set[int]:
        return set(self.server.feature.query_ids(layer=layer, where_clause=expression)["ids"])

    def both(self, layer: str, text: str) -> set[int]:
        """What an expression finds, in whichever encoding."""
        text = re.sub(r"\bgeom\b", "geometry", text)
        answer = self.server.expression.convert(expression=text)
        found = self.ids(layer, text)
        self.assertEqual(found, self.ids(layer, answer["cql2Json"]), text)
        self.assertEqual(found, self.ids(layer, answer["cql2Text"]), text)
        for normal in [answer["cql2Text"], answer["cql2Json"]]:
            again = self.server.expression.convert(expression=normal)
            self.assertEqual(again["cql2Text"], answer["cql2Text"], text)
            self.assertEqual(json.dumps(again["cql2Json"]), json.dumps(answer["cql2Json"]), text)
        return found

    def test_predicates_have_the_expected_numbers_of_items(self) -> None:
        """Each is also the opposite of its negation, but for what is unknown."""
        self.truths: dict[str, list[tuple[str, set[int], set[int]]]] = {}
        count = 0
        for layer, expected, predicate in predicates():
            with self.subTest(layer=layer, predicate=predicate):
                true = self.both(layer, predicate)
                self.assertEqual(len(true), expected)
                predicate = re.sub(r"\bgeom\b", "geometry", predicate)
                false = self.ids(layer, f"NOT ({predicate})")
                self.assertFalse(true & false)
                unknown = self.ids(layer, f"({predicate}) IS NULL")
                self.assertEqual(true | false | unknown, self.ids(layer, "true"))
                self.truths.setdefault(layer, []).append((predicate, true, false))
                count += 1
        self.assertEqual(count, 274)
        self.combine()

    def combine(self) -> None:
        """Random combinations of them, by three-valued logic."""
        chance = random.Random(21065)
        for layer, known in self.truths.items():
            everything = self.ids(layer, "true")
            for _ in range(40):
                (t1, a, na), (t2, b, _), (t3, c, _), (t4, d, nd) = (chance.choice(known) for _ in range(4))
                text = LOGIC.format(f"({t1})", f"({t2})", f"({t3})", f"({t4})", f"({t1})", f"({t4})")
                with self.subTest(layer=layer, combination=text):
                    self.assertLessEqual(self.both(layer, text), everything)
                    self.assertEqual(self.ids(layer, text), (na & b) | (c & nd) | na | nd)

    def test_combinations_have_the_expected_numbers_of_items(self) -> None:
        rows = [line.split("\t") for line in (FILES / "cql2" / "combinations.txt").read_text().splitlines()]
        self.assertEqual(len(rows), 77)
        for expected, p1, p2, p3, p4 in rows:
            text = f"(NOT ({p2}) AND {p1}) OR ({p3} and {p4}) or not ({p1} OR {p4})"
            with self.subTest(combination=text):
                self.assertEqual(len(self.both("places", text)), int(expected))

    def test_templates_hold_for_every_queryable(self) -> None:
        for layer, fields in self.fields.items():
            self.assertFalse(self.both(layer, "false"))
            everything = self.both(layer, "true")
            for field, type in [*fields.items(), ("geometry", "geometry")]:
                name = f'"{field}"'
                with self.subTest(layer=layer, field=field):
                    null, present = self.both(layer, f"{name} IS NULL"), self.both(layer, f"{name} is not null")
                    self.assertFalse(null & present)
                    self.assertEqual(null | present, everything)
                    if type in VALUES:
                        self.check_comparisons(layer, name, VALUES[type], present)
                    if type == "string":
                        self.check_texts(layer, name, present)
                    if type in ("integer", "double"):
                        self.check_numbers(layer, name)
                    if type in ("date", "dateTime"):
                        self.check_times(layer, name, type)

    def check_comparisons(self, layer: str, name: str, value: str, present: set[int]) -> None:
        found = {each: self.both(layer, f"{name} {each} {value}") for each in COMPARISONS}
        for one, other in [("=", "<>"), (">", "<="), ("<", ">=")]:
            self.assertFalse(found[one] & found[other])
            self.assertEqual(found[one] | found[other], present)
        for each in COMPARISONS:
            self.assertEqual(self.both(layer, f"{value} {MIRRORED[each]} {name}"), found[each])
            holds = each in ("=", ">=", "<=")
            self.assertEqual(self.both(layer, f"{name} {each} {name}"), present if holds else set())
            self.assertEqual(self.both(layer, f"{value} {each} {value}"), self.ids(layer, "true" if holds else "false"))

    def check_texts(self, layer: str, name: str, present: set[int]) -> None:
        self.assertEqual(self.both(layer, f"{name} LIKE '%'"), present)
        self.assertEqual(self.both(layer, f"{name} like '%%'"), present)
        self.assertFalse(self.both(layer, f"{name} like '_%'") & self.both(layer, f"{name} like ''"))
        self.both(layer, f"{name} like '\\%\\_'")
        self.both(layer, f"{name} in ('foo', 'bar')")
        self.assertFalse(
            self.both(layer, f"CASEI({name}) = casei('foo')") & self.both(layer, f"CASEI({name}) <> casei('FOO')"))
        self.assertEqual(
            self.both(layer, f"CASEI({name}) LIKE casei('foo%')"), self.both(layer, f"CASEI({name}) LIKE casei('FOO%')"))
        self.assertFalse(
            self.both(layer, f"ACCENTI({name}) = accenti('äöüéáí')")
            & self.both(layer, f"ACCENTI({name}) <> accenti('aoueai')"))
        self.assertEqual(
            self.both(layer, f"ACCENTI({name}) LIKE accenti('Ä%')"), self.both(layer, f"ACCENTI({name}) LIKE accenti('A%')"))
        for pair in [(" = ", "ÄÉ", "ae"), (" LIKE ", "Ä%", "a%")]:
            both = [self.both(layer, f"ACCENTI(CASEI({name})){pair[0]}accenti(casei('{text}'))") for text in pair[1:]]
            self.assertEqual(both[0], both[1])

    def check_numbers(self, layer: str, name: str) -> None:
        self.assertEqual(
            self.both(layer, f"{name} BETWEEN 0 AND 100"), self.ids(layer, f"{name} >= 0") & self.ids(layer, f"{name} <= 100"))
        self.assertFalse(self.both(layer, f"{name} between 100.0 and 1.0"))
        self.both(layer, f"{name} IN (1, 2, 3)")
        # Operators with and without room around them.
        for text in ["{0}+1 > {0}", "{0} - -1 > {0}", "2*{0} = {0}+{0}", "{0}*1.0/2 <= {0}", "{0}^2 >= 0", "-{0} <= 0",
                     "{0} % 10 < 10", "{0} div 10 <= {0}", "{0} = ({0})", "({0}+1)*2 = 2*{0}+2", ".5 < 1. AND 1E2 = 100"]:
            self.assertEqual(self.both(layer, text.format(name)), self.ids(layer, f"{name} IS NOT NULL") if "{" in text
                             else self.ids(layer, "true"), text)

    def check_times(self, layer: str, name: str, type: str) -> None:
        zone = "T00:00:00Z" if type == "dateTime" else ""
        span = f"INTERVAL('2021-01-01{zone}','2021-12-31{zone}')"
        instant = "TIMESTAMP('2022-04-24T07:59:57Z')" if type == "dateTime" else "DATE('2022-04-24')"
        for function in INTERVAL_FUNCTIONS[:5]:
            for other in [instant, span]:
                self.both(layer, f"{function}({name},{other})")
        for function in INTERVAL_FUNCTIONS:
            self.both(layer, f"{function}(INTERVAL({name},{name}),{span})")
        self.both(layer, f"{name} in ('2022-04-14{zone}', '2022-04-15{zone}')")

    def test_spatial_templates(self) -> None:
        for layer in self.fields:
            everything = self.ids(layer, "true")
            boxes = {
                function: [self.both(layer, f"{function}(geom,{other})") for other in ["BBOX(-180,-90,180,90)", WORLD]]
                for function in ["S_INTERSECTS", "S_DISJOINT", "S_TOUCHES", "S_CROSSES", "S_WITHIN", "S_CONTAINS"]}
            for function, (box, polygon) in boxes.items():
                self.assertEqual(box, polygon, function)
            self.assertEqual(boxes["S_INTERSECTS"][0], everything)
            self.assertFalse(boxes["S_DISJOINT"][0])
            for place in ["LINESTRING(7 50, 10 51)", "POINT(7.02 49.92)"]:
                self.assertEqual(
                    self.both(layer, f"S_INTERSECTS(geom,{place})") | self.both(layer, f"S_DISJOINT(geom,{place})"), everything)
            for other in ["LINESTRING(7 50,10 51)", "MULTIPOINT(7 50,10 51)"]:
                self.assertFalse(
                    self.both(layer, f"S_CONTAINS(geom,{other})") & self.both(layer, f"S_WITHIN(geom,{other})"))
                self.both(layer, f"S_OVERLAPS(geom,{other})")
            self.both(layer, "S_INTERSECTS(geom,BBOX(-180,-90,-90,90)) AND S_INTERSECTS(geom,BBOX(90,-90,180,90))")
            for function in ["S_INTERSECTS", "S_DISJOINT"]:
                for place in ["POINT(90 180)", "MULTIPOINT(7.02 49.92, 90 180)"]:
                    with self.assertRaises(geomodel.GeoModelError) as caught:
                        self.ids(layer, f"{function}(geometry,{place})")
                    self.assertEqual(caught.exception.kind, "expressionSyntax")

    def test_arrays(self) -> None:
        lists: list[Any] = [["foo", "bar"], ["bar", "foo", "foo"], ["foo"], ["foo", "bar", 3], [], None, "foo"]
        self.server.source.open_inline(id="source-lists", columns={"attributes": {"tags": lists}})
        self.server.layer.add_table(id="lists", map="m", source="source-lists")
        self.server.layer.load(layer="lists")
        for function, expected in [
            ("A_CONTAINS", {0, 1, 3}), ("A_CONTAINEDBY", {0, 1, 2, 4}), ("A_EQUALS", {0, 1}), ("A_OVERLAPS", {0, 1, 2, 3})
        ]:
            self.assertEqual(self.both("lists", f"{function}(tags,('foo','bar'))"), expected)
            # In double quotes they are names of properties.
            with self.assertRaises(geomodel.GeoModelError) as caught:
                self.ids("lists", f'{function}(tags,("foo","bar"))')
            self.assertEqual(caught.exception.kind, "unknownField")

    def test_control_characters(self) -> None:
        """/req/cql2-text/escaping."""
        texts = ["it's", "\a", "\b", "\t", "\n", "\v", "\f", "\r", "\\", "\\d", "a\nb"]
        self.server.source.open_inline(id="source-texts", columns={"attributes": {"t": texts}})
        self.server.layer.add_table(id="texts", map="m", source="source-texts")
        self.server.layer.load(layer="texts")
        escaped = ["it\\'s", "\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r", "\\\\", "\\d", "a\\nb"]
        for number, text in enumerate(escaped):
            for operator in ["=", "LIKE"]:
                self.assertEqual(self.both("texts", f"t {operator} '{text}'"), {number}, text)
            self.assertEqual(self.ids("texts", {"op": "=", "args": [{"property": "t"}, texts[number]]}), {number})
        self.assertEqual(self.both("texts", "t LIKE '%\\n%'"), {4, 10})
        self.assertEqual(self.both("texts", "t = 'it''s'"), {0})
        # In JSON the strings are JSON's own: a backslash and an n.
        self.assertFalse(self.ids("texts", {"op": "=", "args": [{"property": "t"}, "a\\nb"]}))
        self.assertFalse(self.both("texts", "t = 'a\\\\nb'"))

    def test_productions_of_the_grammar(self) -> None:
        """What annex B allows is accepted and converts stably, what it does not is refused at its column."""
        for line in (FILES / "cql2" / "grammar.txt").read_text().splitlines():
            column, text = line.split("\t", 1)
            with self.subTest(text=text):
                try:
                    answer = self.server.expression.convert(expression=text)
                except geomodel.GeoModelError as error:
                    self.assertEqual(error.data["column"], int(column))
                    continue
                self.assertEqual(column, "0")
                for normal in [answer["cql2Text"], answer["cql2Json"]]:
                    again = self.server.expression.convert(expression=normal)
                    self.assertEqual(json.dumps(again), json.dumps(answer))

    def test_examples_are_the_same_in_both_encodings(self) -> None:
        lines = (FILES / "cql2" / "examples.txt").read_text().splitlines()
        self.assertEqual(len(lines), 212)
        refused = []
        for text, source in zip(lines[::2], lines[1::2]):
            with self.subTest(text=text):
                given = json.loads(source)
                try:
                    answer = self.server.expression.convert(expression=text)
                except geomodel.GeoModelError as error:
                    # Functions of the example's own.
                    self.assertEqual(error.kind, "expressionSyntax")
                    refused.append(error.data["found"])
                    with self.assertRaises(geomodel.GeoModelError):
                        self.server.expression.convert(expression=given)
                    continue
                self.assertEqual(answer["cql2Json"], given)
                self.assertEqual(self.server.expression.convert(expression=given), answer)
                self.assertEqual(self.server.expression.convert(expression=answer["cql2Text"]), answer)
        self.assertEqual(refused, ["avg", "Buffer", "Foo", "Bar"])


def line(text: str) -> dict[str, Any]:
    positions = text[len("LINESTRING("):-1].split(", ")
    return {"type": "LineString", "coordinates": [[float(each) for each in position.split()] for position in positions]}


if __name__ == "__main__":
    unittest.main()
