"""Published rasters: their tiles of pixels, and pages with them. Needs a Chromium and the package pmtiles, or skips what needs them."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import sqlite3
import unittest
from typing import Any

from browser import BROWSER, Browser, Picture
from tiling import PublishCase, feature, has, rectangle

import geomodel


class PublishedRasterTest(PublishCase):
    def raster(self, name: str, west: float, south: float, columns: int, rows: int, cell: float = 1) -> None:
        """A map and a layer of heights in degrees, which grow southwards and eastwards."""
        lines = [" ".join(str(row * columns + column) for column in range(columns)) for row in range(rows)]
        head = f"ncols {columns}\nnrows {rows}\nxllcorner {west}\nyllcorner {south}\ncellsize {cell}\nNODATA_value -9999\n"
        (self.inputs / f"{name}.asc").write_text(head + "\n".join(lines) + "\n")
        reference = 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
        (self.inputs / f"{name}.prj").write_text(reference)
        self.server.call("map/create", {"id": f"m-{name}"})
        self.server.call("layer/addRaster", {"map": f"m-{name}", "path": str(self.inputs / f"{name}.asc"), "id": name})
        self.server.call("layer/load", {"layer": name})

    def tiles_of_pixels(self, params: dict[str, Any]) -> tuple[dict[str, str], dict[tuple[int, int, int], Picture]]:
        path = self.folder / "pixels.mbtiles"
        self.server.call("map/publish", {"path": str(path), "ifExists": "replace", **params})
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            found = {(z, x, 2**z - 1 - row): Picture(data) for z, x, row, data in database.execute("SELECT * FROM tiles")}
            return dict(database.execute("SELECT name, value FROM metadata")), found

    def test_tiles_of_a_raster(self) -> None:
        self.raster("heights", 10, 40, 60, 60, 0.1)
        metadata, tiles = self.tiles_of_pixels({"layer": "heights", "maxZoom": 9})
        # A pixel of zoom 3 is 9.8 km, of the raster 11.1 km; the zooms that follow would have no more to show.
        self.assertEqual((metadata["format"], metadata["maxzoom"], json.loads(metadata["json"])), ("png", "3", {"name": "heights"}))
        self.assertEqual(sorted(tiles), [(0, 0, 0), (1, 1, 0), (2, 2, 1), (3, 4, 2), (3, 4, 3)])
        self.assertEqual({(each.width, each.height) for each in tiles.values()}, {(512, 512)})
        # Between 10 and 16 degrees east, and from 46 degrees north.
        places = {name: ((lon + 180) / 360 * 512 * 8 % 512, (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2 * 512 * 8 - 2 * 512)
                  for name, lon, lat in (("first", 10.5, 45.5), ("last", 15.5, 45.5), ("beyond", 17, 45.5), ("above", 12, 47))}
        colors = {name: tiles[3, 4, 2][int(x), int(y)] for name, (x, y) in places.items()}
        self.assertEqual((colors["beyond"], colors["above"]), ((0, 0, 0), (0, 0, 0)))
        self.assertLess(colors["first"], colors["last"])
        path = self.folder / "a.pmtiles"
        answer = self.server.call("map/publish", {"map": "m-heights", "path": str(path), "minZoom": 2, "maxZoom": 3})
        self.assertEqual((answer["tileCount"], answer["layerCount"], answer["omitted"]), (3, 1, []))
        if not has("pmtiles"):
            self.skipTest("no pmtiles, which reads the archive")
        reading = importlib.import_module("pmtiles.reader")
        with path.open("rb") as file:
            source = reading.MmapSource(file)
            header = reading.Reader(source).header()
            self.assertEqual((header["tile_type"].name, header["tile_compression"].name, header["max_zoom"]), ("PNG", "NONE", 3))
            self.assertEqual({at: Picture(data)[100, 500] for at, data in reading.all_tiles(source)}, {at: tiles[at][100, 500] for at in list(tiles)[2:]})

    def test_coarse_rasters_are_in_the_tiles_of_finer_ones(self) -> None:
        self.raster("world", -180, -90, 72, 36, 5)
        self.raster("anti", 170, -20, 20, 40)
        self.server.call("layer/addRaster", {"map": "m-world", "path": str(self.inputs / "anti.asc"), "id": "over"})
        self.server.call("layer/load", {"layer": "over"})
        self.assertEqual(sorted(self.tiles_of_pixels({"layer": "world"})[1]), [(0, 0, 0)])
        tile = self.tiles_of_pixels({"map": "m-anti"})[1][0, 0, 0]
        # On both sides of the antimeridian.
        self.assertEqual([tile[x, 280] != (0, 0, 0) for x in (1, 12, 20, 256, 490, 500, 510)], [True, True, False, False, False, True, True])
        both = self.tiles_of_pixels({"map": "m-world"})[1][0, 0, 0]
        self.assertEqual((both[1, 280], both[510, 280]), (tile[1, 280], tile[510, 280]))
        self.assertNotEqual(both[256, 280], (0, 0, 0))
        self.raster("south", -60, -90, 120, 10)
        self.assertEqual(sorted(self.tiles_of_pixels({"map": "m-south", "maxZoom": 1})[1]), [(0, 0, 0)])

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_rasters_of_a_page(self) -> None:
        self.raster("heights", 10, 40, 60, 60, 0.1)
        data = {"type": "FeatureCollection", "features": [feature(1, {"type": "Polygon", "coordinates": [rectangle(13, 40, 16, 43)]})]}
        self.server.call("source/openInline", {"id": "s-box", "data": data})
        self.server.call("layer/add", {"map": "m-heights", "source": "s-box", "id": "box"})
        self.server.call("layer/load", {"layer": "box"})
        path = self.folder / "a.html"
        answer = self.server.call("map/publish", {"map": "m-heights", "path": str(path), "maxZoom": 3})
        self.assertEqual((answer["layerCount"], answer["featureCount"], answer["omitted"], "reduced" in answer), (2, 1, [], False))
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(path.as_uri(), 600, 600)
        page.until("map.layers[0].images.size == 5 && [...map.layers[0].images.values()].some(each => each.image && each.image.complete)")
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = page.picture()
        grey, box, outside = picture[150, 450], picture[450, 450], picture[5, 5]
        self.assertEqual((outside, box, page.said()), ((255, 255, 255), (211, 211, 211), []))
        self.assertTrue(0 < grey[0] == grey[1] == grey[2] < 255, grey)
        # Nothing is drawn beyond the scales of a layer.
        self.server.call("layer/update", {"layer": "heights", "minScale": 1000})
        self.server.call("map/publish", {"map": "m-heights", "path": str(path), "maxZoom": 3, "ifExists": "replace"})
        page = browser.page(path.as_uri(), 600, 600)
        page.until("map.layers[0].images.size == 5")
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = page.picture()
        self.assertEqual((picture[150, 450], picture[450, 450]), ((255, 255, 255), (211, 211, 211)))

    def test_a_raster_that_cannot_be_read_leaves_no_file(self) -> None:
        self.raster("heights", 10, 40, 60, 60, 0.1)
        (self.inputs / "heights.asc").write_text("no raster")
        for name in ("a.pmtiles", "a.mbtiles", "a.html"):
            with self.subTest(name), self.assertRaises((geomodel.errors.ReadFailedError, geomodel.errors.ChangedWhileReadError)):
                self.server.call("map/publish", {"layer": "heights", "path": str(self.folder / name)})
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
