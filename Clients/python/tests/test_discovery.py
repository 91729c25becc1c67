"""What agents read of the protocol is small, and a document of its own."""

import json
import unittest
from typing import Any, Iterator

from support import SERVER, needs_server

import geomodel


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix("#/components/schemas/")
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for member in value:
            yield from references(member)


@needs_server
class DiscoveryTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.server = geomodel.launch_sync(SERVER)
        cls.addClassCleanup(cls.server.close)
        cls.whole = cls.server.session.discover()

    def test_an_excerpt_has_the_schemas_that_it_refers_to_and_no_others(self) -> None:
        for domain in sorted({method["tags"][0]["name"] for method in self.whole["methods"]}):
            with self.subTest(domain):
                excerpt = self.server.session.discover(domain=domain)
                schemas = excerpt["components"]["schemas"]
                self.assertEqual(set(references(excerpt)), set(schemas))
                self.assertEqual(excerpt["methods"], [each for each in self.whole["methods"] if each["tags"][0]["name"] == domain])
                for name, schema in schemas.items():
                    self.assertEqual(schema, self.whole["components"]["schemas"][name])

    def test_less_detail_is_valid_and_small(self) -> None:
        # As long as there are methods: of each its name, or a sentence and its params.
        for detail, limit in (("names", 103 * len(self.whole["methods"])), ("summary", 720 * len(self.whole["methods"]))):
            excerpt = self.server.session.discover(detail=detail)
            self.assertLess(len(json.dumps(excerpt)), limit)
            self.assertEqual([each["name"] for each in excerpt["methods"]], [each["name"] for each in self.whole["methods"]])
            self.assertEqual(list(references(excerpt)), [])
            for method in excerpt["methods"]:
                # What OpenRPC requires.
                self.assertIn("schema", method["result"])
                self.assertIsInstance(method["params"], list)
                for param in method["params"]:
                    self.assertLessEqual({"name", "schema"}, set(param))

    def test_the_description_names_params(self) -> None:
        described = self.server.session.describe(detail="summary")
        self.assertLess(len(json.dumps(described)), 150 * len(self.whole["methods"]))
        params = {method["name"]: (method["params"], method["required"]) for method in described["methods"]}
        self.assertEqual(params["map/get"], (["map"], ["map"]))
        for method in self.whole["methods"]:
            names = [each["name"] for each in method["params"] if each["name"] != "meta"]
            self.assertEqual(sorted(params[method["name"]][0]), sorted(names))

    def test_pages_of_a_size_have_all_that_one_result_has(self) -> None:
        server = self.server
        server.map.create(id="m1")
        server.view.create(id="v1", map="m1")
        server.overlay.create(id="o1", view="v1")
        server.overlay.add_columns(
            overlay="o1", x=[0.5 * n for n in range(300)], y=[0.25 * n for n in range(300)],
            attributes={"name": ["é" * (n % 50) for n in range(300)], "number": list(range(300))},
        )
        whole = server.feature.query(overlay="o1")["features"]
        for size in (700, 1000, 5000, 20_000):
            for form in ("geojson", "columns"):
                ids: list[int] = []
                offset: int | None = 0
                while offset is not None:
                    page = server.feature.query(overlay="o1", offset=offset, max_bytes=max(size, 1000), format=form)  # type: ignore[arg-type]
                    # The reply around the result has less than 40 bytes.
                    self.assertLessEqual(len(json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode()), max(size, 1000))
                    found = [each["id"] for each in page["features"]] if form == "geojson" else geomodel.decode_column(page["columns"]["ids"])
                    self.assertTrue(found)
                    ids += found
                    offset = page.get("nextOffset")
                    self.assertEqual(offset is not None, page["exceededLimit"])
                self.assertEqual(ids, [each["id"] for each in whole])


if __name__ == "__main__":
    unittest.main()
