"""Series of pictures, pictures in parts, and what is left out of one."""

from __future__ import annotations

import base64
import re
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any

from picture_worlds import decoded
from support import ROOT, SERVER, needs_server

import geomodel


@needs_server
class SeriesTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.server: Any = geomodel.launch_sync(SERVER or "")
        self.addCleanup(self.server.close)
        self.server.map.create(id="m")
        self.server.view.create(id="v", map="m", width=400, height=300)

    def overlay(self, count: int) -> None:
        self.server.overlay.create(id="o", view="v", renderer={"type": "simple", "symbol": {"type": "simpleFill", "color": "#FF0000"}})
        graphics: list[Any] = []
        for id in range(count):
            x, y = id % 100, id // 100
            ring = [[x, y], [x + 0.8, y], [x + 0.8, y + 0.5], [x, y + 0.5], [x, y]]
            graphics.append({"id": id, "geometry": {"type": "Polygon", "coordinates": [ring]}, "attributes": {"name": f"No. {id}"}})
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)

    def test_a_book_has_a_page_for_each_feature(self) -> None:
        self.overlay(30)
        file = self.folder / "book.pdf"
        seen: list[Any] = []
        series = self.server.options(progress=seen.append).view.render_series(
            view="v", overlay="o", path=str(file), format="pdf", title_expression="name"
        )["series"]
        written = file.read_bytes()
        self.assertEqual((series["bytes"], series["pages"][29]), (len(written), {"id": 29, "title": "No. 29"}))
        self.assertTrue(written.startswith(b"%PDF") and written.rstrip().endswith(b"%%EOF"))
        # From 1.18 on Cairo compresses what is no picture.
        packed = re.findall(rb"/Type /ObjStm.*?stream\n(.*?)\nendstream", written, re.S)
        self.assertIn(b"/Count 30", b"".join([written, *map(zlib.decompress, packed)]))
        self.assertTrue(seen)

    def test_pages_show_their_features(self) -> None:
        self.overlay(12)
        series = self.server.view.render_series(view="v", overlay="o", path=str(self.folder / "p.png"), ids=[2, 11])["series"]
        self.assertEqual([Path(page["path"]).name for page in series["pages"]], ["p-1.png", "p-2.png"])
        for page in series["pages"]:
            width, height, channels, pixels = decoded(base64.b64encode(Path(page["path"]).read_bytes()).decode())
            middle = channels * (height // 2 * width + width // 2)
            self.assertEqual(pixels[middle : middle + 3], b"\xff\x00\x00")
            self.assertEqual(pixels[:3], b"\xff\xff\xff")
            # As wide as the page without its margins, of which there are two of a tenth of 300.
            row = pixels[channels * (height // 2) * width : channels * (height // 2 + 1) * width]
            red = [column for column in range(width) if row[channels * column : channels * column + 3] == b"\xff\x00\x00"]
            self.assertAlmostEqual(red[-1] - red[0], 340, delta=3)

    def test_a_book_that_is_cancelled_leaves_nothing(self) -> None:
        self.overlay(900)
        kept = self.folder / "kept.pdf"
        kept.write_bytes(b"earlier")
        with self.assertRaises(geomodel.errors.TimedOutError):
            self.server.options(task_timeout=0.05).view.render_series(view="v", overlay="o", path=str(kept), format="pdf", replace=True)
        self.assertGreater(self.server.view.render(view="v")["picture"]["bytes"], 0)
        # It ends when its work has ended.
        self.server.close()
        self.assertEqual([each.name for each in self.folder.iterdir()], ["kept.pdf"])
        self.assertEqual(kept.read_bytes(), b"earlier")

    def test_fences_are_drawn_with_their_buffers(self) -> None:
        server = self.server
        scale = 100_000
        view = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [10, 60]}, "targetScale": scale}
        server.view.set_viewpoint(view="v", viewpoint=view)
        server.overlay.create(id="zones", view="v")
        server.overlay.add_graphics(overlay="zones", graphics=[{"id": 1, "geometry": {"type": "Point", "coordinates": [10, 60]}}])
        server.location.create_external(id="drive")
        server.geotrigger.create(id="watch", feed="drive", fences="zones", buffer=1000)
        for shown in (False, True):
            width, height, channels, pixels = decoded(server.view.render(view="v", fences=shown)["picture"]["data"])
            row = [pixels[channels * (150 * width + x) : channels * (150 * width + x) + 3] for x in range(width)]
            inked = [x for x, color in enumerate(row) if color != b"\xff\xff\xff"]
            self.assertEqual(bool(inked), shown)
        # A kilometre is twice as long on this map, at 60 degrees.
        self.assertAlmostEqual(inked[-1] - inked[0], 2 * 2 * 1000 / scale / 0.0254 * 96, delta=4)

    def test_a_raster_that_cannot_be_read_any_more_is_named_and_the_rest_is_drawn(self) -> None:
        file = self.folder / "colors.tif"
        file.write_bytes((ROOT / "Tests" / "Fixtures" / "colors.tif").read_bytes())
        self.server.layer.add_raster(map="m", path=str(file), id="colors")
        self.server.layer.load(layer="colors")
        layer = self.server.layer.get(layer="colors")
        box: Any = {"type": "boundingGeometry", "geometry": {"type": "Envelope", **layer["extent"]}, "spatialReference": layer["spatialReference"]}
        self.server.view.set_viewpoint(view="v", viewpoint=box)
        self.overlay(1)
        file.write_bytes(b"no raster")
        picture = self.server.view.render(view="v")["picture"]
        self.assertEqual([each["layer"] for each in picture["failed"]], ["colors"])
        self.assertIn(picture["failed"][0]["error"]["kind"], ("readFailed", "changedWhileRead"))
        low, high = [[layer["extent"][f"{axis}{end}"] for axis in "xy"] for end in ("Min", "Max")]
        self.server.overlay.create(id="there", view="v", spatial_reference=layer["spatialReference"])
        self.server.overlay.add_graphics(overlay="there", graphics=[{"geometry": {"type": "LineString", "coordinates": [low, high]}}])
        with self.assertRaises((geomodel.errors.ReadFailedError, geomodel.errors.ChangedWhileReadError)):
            self.server.view.render_series(view="v", overlay="there", path=str(self.folder / "page.png"))

    def test_parts_are_the_picture(self) -> None:
        asked: dict[str, Any] = {"view": "v", "width": 3000, "height": 3000, "layout": {"graticule": {"interval": 0.5}}}
        self.server.view.set_viewpoint(
            view="v", viewpoint={"type": "centerAndScale", "center": {"type": "Point", "coordinates": [10, 60]}, "targetScale": 1e7}
        )
        whole = self.server.view.render(**asked, format="svg")["picture"]
        parts = self.server.parts("view/render", {**asked, "format": "svg"})
        pieces = [part["data"] for part in parts]
        self.assertGreater(len(pieces), 1)
        self.assertLess(max(map(len, pieces)), 1 << 20)
        self.assertEqual("".join(pieces), whole.pop("data"))
        self.assertEqual(parts.result["picture"] if parts.result else None, whole)
