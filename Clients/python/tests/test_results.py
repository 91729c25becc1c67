"""What users see: short results, tables, the nearest names, short tracebacks; and columns and times as Python values."""

import array
import base64
import datetime
import struct
import traceback
import unittest

from support import FAKE, SERVER

import geomodel
from geomodel import _values, _wire
from geomodel._limits import Limits
from geomodel._results import Result

POINT = {"type": "Point", "coordinates": [1, 2]}
FOUND = {"revision": 4, "features": [{"type": "Feature", "id": n, "geometry": POINT, "properties": {"name": "a<b"}} for n in range(50)]}


class ResultTests(unittest.TestCase):
    def test_a_result_is_a_dictionary_with_a_short_repr(self) -> None:
        result = Result(FOUND)
        self.assertEqual(result, FOUND)
        self.assertLess(len(repr(result)), 600)
        self.assertIn("... 50 in all]", repr(result))
        self.assertEqual(repr(Result({"map": "m1", "revision": 1})), "{'map': 'm1', 'revision': 1}")

    def test_a_notebook_shows_a_table(self) -> None:
        shown = Result(FOUND)._repr_html_()
        self.assertIn("<th>id</th><th>geometry</th><th>name</th>", shown)
        self.assertIn("<td>0</td><td>Point</td><td>a&lt;b</td>", shown)
        self.assertIn("10 of 50 rows", shown)

    def test_columns_are_decoded_in_the_order_of_the_fields(self) -> None:
        packed = {"type": "int64", "data": base64.b64encode(array.array("q", [7, 8]).tobytes()).decode()}
        numbers = {"type": "float64", "data": base64.b64encode(struct.pack("<2d", 0.5, float("nan"))).decode()}
        answer = {"columns": {"ids": packed, "attributes": {"a": ["x", None], "b": numbers}}, "fields": [{"name": "b"}, {"name": "a"}]}
        self.assertEqual(list(geomodel.decode_columns(answer).items()), [("b", [0.5, None]), ("a", ["x", None])])
        self.assertEqual(geomodel.decode_column(packed), [7, 8])
        ends = {"type": "int64", "data": base64.b64encode(array.array("q", [0, 2, 2]).tobytes()).decode()}
        shapes = {"type": "WKB", "data": base64.b64encode(b"ab").decode(), "offsets": ends}
        self.assertEqual(geomodel.decode_column(shapes), [b"ab", None])
        self.assertIn("<td>7</td><td>0.5</td><td>&#x27;x&#x27;</td>".replace("&#x27;x&#x27;", "x"), Result(answer)._repr_html_())

    def test_a_time_without_a_zone_is_utc_in_every_place(self) -> None:
        noon = datetime.datetime(2024, 5, 1, 12)
        forms = [_values.value(noon), _values.to_json(noon), _values.column([noon])[0], _values.value(noon.replace(tzinfo=datetime.timezone.utc))]
        self.assertEqual(forms, ["2024-05-01T12:00:00Z"] * 4)

    def test_too_many_graphics_are_refused_before_time_is_spent_on_them(self) -> None:
        with self.assertRaisesRegex(geomodel.EncodeError, r"1,000,000 graphics .* `overlay\.add` takes a GeoDataFrame"):
            _wire.prepare("overlay/addGraphics", {"overlay": "o1", "graphics": [None] * 1_000_000}, Limits(None, 4_000_000))


class MistakeTests(unittest.TestCase):
    def test_a_misspelt_argument_has_the_nearest(self) -> None:
        with geomodel.launch_sync(FAKE) as server:
            for given, meant in (("titel", "title"), ("spatialReference", "spatial_reference"), ("spatial", "spatial_reference")):
                with self.assertRaisesRegex(TypeError, rf"MapMethods.create\(\) has no argument '{given}'; did you mean '{meant}'\?"):
                    server.map.create(**{given: 1})  # type: ignore[arg-type]
            # No name is better than a wrong one.
            for given, end in (("mask", ": it has "), ("field", "; did you mean 'computed_fields'"), ("predicate", ": it has ")):
                with self.assertRaisesRegex(TypeError, end):
                    server.feature.calculate(**{given: 1})  # type: ignore[arg-type]
            with self.assertRaisesRegex(AttributeError, "MapMethods has no method 'open': it has close, create"):
                server.map.open  # type: ignore[attr-defined]

    def test_a_notebook_shows_the_line_of_the_caller_and_the_error(self) -> None:
        with geomodel.launch_sync(FAKE) as server:
            try:
                server.call("test/refuse")
            except geomodel.GeoModelError as error:
                lines = error._render_traceback_()
                self.assertLess(len(lines), 5)
                self.assertLess(len(lines), len(traceback.format_exc().splitlines()))
                self.assertIn("test_results.py", lines[0])
                self.assertTrue(lines[-1].startswith(type(error).__name__), lines)

    @unittest.skipIf(SERVER is None, "no server was built")
    def test_a_filter_counts_times_alike_however_they_are_given(self) -> None:
        times = [datetime.datetime(2024, 5, 1, hour) for hour in (10, 12, 14)]
        with geomodel.launch_sync(SERVER) as server:
            server.map.create(id="m1")
            server.view.create(id="v1", map="m1")
            server.overlay.create(id="o1", view="v1")
            server.overlay.add_graphics(overlay="o1", graphics=[{"geometry": POINT, "attributes": {"at": time}} for time in times])
            server.overlay.add_columns(overlay="o1", x=[1.0] * 3, y=[2.0] * 3, attributes={"at": times})
            clause = {"op": ">=", "args": [{"property": "at"}, {"timestamp": times[1]}]}
            self.assertEqual(server.feature.query_count(overlay="o1", where_clause=clause)["count"], 4)


if __name__ == "__main__":
    unittest.main()
