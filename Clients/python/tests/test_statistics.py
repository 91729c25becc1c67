"""Statistics and distinct values of random features, against SQLite and the statistics module."""

from __future__ import annotations

import math
import random
import sqlite3
import statistics
import unittest
from typing import Any

from support import SERVER, needs_server

import geomodel

KINDS = ["building", "junction", "É", "", None]
TYPES = ["count", "sum", "mean", "standardDeviation", "variance", "min", "max"]


class Deviation:
    """SQLite has no variance."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: float | None) -> None:
        if value is not None:
            self.values.append(value)

    def finalize(self) -> float | None:
        # Of exact fractions.
        return float(statistics.variance(self.values)) if len(self.values) > 1 else None


@needs_server
class StatisticsTests(unittest.TestCase):
    def setUp(self) -> None:
        self.random = random.Random(11)
        self.rows = [self.row() for _ in range(4000)]
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        self.server.map.create(id="m1")
        self.server.view.create(id="v1", map="m1")
        self.server.overlay.create(id="o1", view="v1")
        self.server.overlay.add_graphics(overlay="o1", graphics=[
            {"geometry": {"type": "Point", "coordinates": [0, 0]}, "attributes": {k: v for k, v in row.items() if v is not None}}
            for row in self.rows])
        self.tables = sqlite3.connect(":memory:")
        self.addCleanup(self.tables.close)
        self.tables.create_aggregate("variance", 1, Deviation)
        self.tables.execute("CREATE TABLE t (kind TEXT, code INTEGER, large INTEGER, size REAL, day TEXT)")
        self.tables.executemany("INSERT INTO t VALUES (:kind, :code, :large, :size, :day)", self.rows)

    def row(self) -> dict[str, Any]:
        some = self.random
        return {
            "kind": some.choice(KINDS),
            "code": some.choice([None, *range(7)]),
            # Sums stay within 64 bits, where SQLite has them; a double has not all digits.
            "large": some.choice([None, some.randrange(-(2**50), 2**50)]),
            "size": some.choice([None, some.gauss(1e6, 0.01), some.uniform(-1e12, 1e12)]),
            "day": some.choice([None, f"2024-05-{some.randint(10, 30)}"]),
        }

    def same(self, found: Any, wanted: Any, what: str) -> None:
        if isinstance(wanted, float):
            self.assertTrue(
                isinstance(found, (int, float)) and math.isclose(found, wanted, rel_tol=1e-11, abs_tol=1e-6),
                f"{what}: {found}, not {wanted}")
        else:
            self.assertEqual(found, wanted, what)

    def compare(self, group_by: list[str], fields: list[str], where: str | None, types: list[str] = TYPES) -> None:
        wanted = [{"type": t, "field": f} for f in fields for t in types]
        answer = self.server.feature.query_statistics(
            overlay="o1", statistics=[{"type": "count"}, *wanted], group_by=group_by, limit=100000,
            **({"where_clause": where} if where else {}))
        sql = {"count": "COUNT({0})", "sum": "SUM({0})", "mean": "AVG({0})", "min": "MIN({0})", "max": "MAX({0})",
               "variance": "variance({0})", "standardDeviation": "variance({0})"}
        columns = ["COUNT(*)", *(sql[w["type"]].format(w["field"]) for w in wanted)]
        query = f"SELECT {', '.join([*group_by, *columns])} FROM t" + (f" WHERE {where}" if where else "")
        if group_by:
            order = ", ".join(f"{name} NULLS LAST" for name in group_by)
            query += f" GROUP BY {', '.join(group_by)} ORDER BY {order}"
        rows = self.tables.execute(query).fetchall()
        self.assertEqual([list(r["group"].values()) for r in answer["records"]], [list(r[:len(group_by)]) for r in rows])
        for record, row in zip(answer["records"], rows):
            found = list(record["statistics"].values())
            self.assertEqual(found[0], row[len(group_by)])
            for each, value, other in zip(wanted, found[1:], row[len(group_by) + 1:]):
                if each["type"] == "standardDeviation" and other is not None:
                    other = math.sqrt(other)
                self.same(value, other, f"{each} of {record['group']}")

    def test_they_are_those_of_sqlite(self) -> None:
        for where in (None, "code > 2", "kind = 'building' OR size < 0"):
            for group_by in ([], ["kind"], ["code"], ["day"], ["kind", "code"], ["day", "kind", "code"]):
                with self.subTest(where=where, group_by=group_by):
                    self.compare(group_by, ["code", "large", "size"], where)
                    self.compare(group_by, ["kind", "day"], where, ["count", "min", "max"])

    def test_distinct_values_are_those_of_sqlite(self) -> None:
        for fields in (["kind"], ["code"], ["large"], ["size"], ["day", "kind"]):
            answer = self.server.feature.query_distinct_values(overlay="o1", fields=fields, limit=100000)
            names = ", ".join(fields)
            order = ", ".join(f"{name} NULLS LAST" for name in fields)
            rows = self.tables.execute(f"SELECT {names}, COUNT(*) FROM t GROUP BY {names} ORDER BY {order}").fetchall()
            found = [(*record["values"].values(), record["count"]) for record in answer["records"]]
            self.assertEqual(found, rows)


if __name__ == "__main__":
    unittest.main()
