"""The preview page in a headless browser: what it shows and does.

Skipped without a Chromium, and without MapLibre GL (of the package maplibre, or in GEOMODEL_MAPLIBRE).
"""

from __future__ import annotations

import shutil
import sys
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from browser import BROWSER, Browser, Page
from previewing import Shared
from support import ROOT, SERVER

from geomodel import _page

FILES = Path(_page.__file__).parent / "_preview"
HAS_MAPLIBRE = SERVER is not None and len(_page.folders([SERVER])) > 1
CENTER = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [8.5, 47.3]}, "targetScale": 1_000_000, "spatialReference": "EPSG:4326"}
RED = {"type": "simpleFill", "color": "#FF0000", "outline": {"color": "#FF0000", "width": 1}}
SQUARE = {"type": "Polygon", "coordinates": [[[8, 47], [9, 47], [9, 47.6], [8, 47.6], [8, 47]]]}


def plain(color: str) -> dict[str, Any]:
    """Draws all pixels in one color."""
    return {"type": "classified", "band": 0, "classes": [{"maxValue": 1_000, "color": color}]}


@unittest.skipIf(SERVER is None or BROWSER is None or not HAS_MAPLIBRE, "no server, no Chromium or no MapLibre GL")
class PageTests(Shared):
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def start(self, *more: str) -> Any:
        self.server = super().start(*more)
        self.server.map.create(id="m")
        self.server.view.create(id="v", map="m", viewpoint=CENTER)
        self.server.overlay.create(id="o", view="v")
        return self.server

    def open(self, width: int = 800, height: int = 600) -> Page:
        page = self.browser.page(self.url, width, height)
        self.addCleanup(page.close)
        page.until("window.preview?.camera.view === 'v' && preview.drawing.isIdle && preview.map.loaded()")
        return page

    def color(self, page: Page, x: int, y: int, wanted: tuple[int, int, int], near: int = 2) -> None:
        """Waits until a pixel has a colour."""
        end = time.monotonic() + 20
        while True:
            found = page.picture()[x, y]
            if all(abs(a - b) <= near for a, b in zip(found, wanted)):
                return
            if time.monotonic() > end:
                Path("/tmp/preview-failed.png").write_bytes(page.picture().png)
                self.fail(f"({x}, {y}) is {found}, not {wanted}; {page.said()}")

    def red(self, **more: Any) -> None:
        self.server.overlay.add_graphics(overlay="o", graphics=[{"geometry": SQUARE, "symbol": RED, "attributes": {"name": "<b>Red</b>"}, **more}])

    def test_a_red_polygon_is_red_and_nothing_is_refused_by_the_policy(self) -> None:
        self.start()
        self.red()
        page = self.open()
        self.color(page, 400, 300, (255, 0, 0))
        self.assertEqual(page.said(), [])

    def test_a_click_shows_a_popup_whose_texts_are_no_markup(self) -> None:
        self.start()
        self.red()
        page = self.open()
        self.color(page, 400, 300, (255, 0, 0))
        taps = self.server.call("view/observeTaps", {"view": "v"})
        self.assertTrue(taps["subscription"])
        page.click(420, 320)
        text = page.until("document.querySelector('.popup')?.innerText")
        self.assertIn("<b>Red</b>", text)
        page.click(420, 20)
        page.until("document.querySelector('.popup') === null")

    def test_selections_are_shown_and_made(self) -> None:
        self.start()
        self.red()
        page = self.open()
        page.call("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Shift", "code": "ShiftLeft", "modifiers": 8})
        page.mouse("mousePressed", 420, 320, button="left", buttons=1, clickCount=1, modifiers=8)
        page.mouse("mouseReleased", 420, 320, button="left", clickCount=1, modifiers=8)
        page.until("preview.model.overlays.get('o').selectedCount === 1")
        self.assertEqual(self.server.overlay.get(overlay="o")["selectedCount"], 1)
        self.assertIn("1 selected", page.until("document.querySelector('[data-overlay=o]').innerText"))

    def test_a_change_is_seen_within_a_tenth_of_a_second(self) -> None:
        self.start()
        self.red()
        page = self.open()
        page.value("""(() => {
            window.seen = [];
            const shown = () => preview.map.queryRenderedFeatures([400, 300]).some(({source}) => source === "overlay:o");
            let before = shown();
            preview.map.on("render", () => { const now = shown(); if (now !== before) seen.push(performance.timeOrigin + performance.now()); before = now; });
        })()""")
        delays = []
        for turn in range(10):
            began = time.time()
            if turn % 2 == 0:
                self.server.overlay.remove_graphics(overlay="o", all=True)
            else:
                self.red()
            seen = page.until(f"seen.length > {turn} && seen[{turn}]")
            delays.append(seen / 1000 - began)
        print("delays of changes in ms:", [round(1000 * delay) for delay in sorted(delays)], file=sys.stderr)
        self.assertLess(sorted(delays)[len(delays) // 2], 0.1)

    def test_view_and_page_follow_each_other_without_echo(self) -> None:
        self.start()
        page = self.open()
        page.drag((400, 300), (300, 260))
        page.until("!preview.map.isMoving() && preview.camera.isSettled")
        center = self.server.view.get(view="v")["center"]["coordinates"]
        self.assertGreater(center[0], 8.5)
        self.assertLess(center[1], 47.3)
        self.assertEqual(self.server.view.get(view="v")["scale"], 1_000_000)
        for turn in range(3):
            self.server.view.set_viewpoint(view="v", viewpoint={**CENTER, "rotation": 30.0 * turn, "targetScale": 50_000})
            page.until(f"Math.abs(preview.map.getBearing() + {30 * turn}) < 1e-9 && preview.map.getCenter().lng")
        shown = page.value("preview.map.getCenter().toArray()")
        self.assertAlmostEqual(shown[0], 8.5, 9)
        self.assertAlmostEqual(shown[1], 47.3, 9)
        before = self.server.view.get(view="v")["revision"]
        page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.value("preview.connection.call('session/echo', {value: 1})")
        self.assertEqual(self.server.view.get(view="v")["revision"], before)

    def test_the_end_of_a_gesture_snaps(self) -> None:
        server = self.start()
        server.map.update(map="m", scale_levels=[500_000, 1_000_000, 2_000_000])
        page = self.open()
        page.until("preview.camera.snaps")
        page.value("preview.map.easeTo({zoom: preview.map.getZoom() + 0.8, duration: 100}); 0")
        page.until("!preview.map.isMoving() && preview.camera.isSettled")
        self.assertEqual(server.view.get(view="v")["scale"], 500_000)

    def test_an_animation_moves_the_page(self) -> None:
        self.start()
        page = self.open()
        page.value("window.moves = 0; preview.map.on('move', () => moves++); 0")
        self.server.view.animate_viewpoint(view="v", viewpoint={**CENTER, "center": {"type": "Point", "coordinates": [9.5, 47.3]}}, duration=0.5)
        page.until("Math.abs(preview.map.getCenter().lng - 9.5) < 1e-9")
        self.assertGreater(page.value("moves"), 3)

    def test_layers_are_drawn_with_their_symbols_and_switched(self) -> None:
        server = self.start()
        server.source.open(id="w", path="naturalearth_110m.gpkg")
        server.layer.add(map="m", source="w", source_layer="countries", id="l")
        server.layer.update(layer="l", renderer={"type": "simple", "symbol": {"type": "simpleFill", "color": "#00FF00"}})
        page = self.open()
        self.assertIn("load", page.until("document.querySelector('[data-layer=l]')?.innerText"))
        page.value("document.querySelector('[data-layer=l] button').click()")
        self.color(page, 400, 300, (0, 255, 0))
        server.layer.update(layer="l", renderer={"type": "simple", "symbol": {"type": "simpleFill", "color": "#0000FF"}})
        self.color(page, 400, 300, (0, 0, 255))
        server.layer.update(layer="l", opacity=0.5)
        self.color(page, 400, 300, (128, 128, 255))
        page.value("document.querySelector('[data-layer=l] input').click()")
        self.color(page, 400, 300, (255, 255, 255))
        self.assertFalse(server.layer.get(layer="l")["isVisible"])
        page.until("!document.querySelector('#undo').disabled")
        page.value("document.querySelector('#undo').click()")
        self.color(page, 400, 300, (128, 128, 255))
        page.value("document.querySelector('#redo').click()")
        self.color(page, 400, 300, (255, 255, 255))
        server.map.update(map="m", background_color="#102030")
        self.color(page, 400, 300, (0x10, 0x20, 0x30))

    def test_rasters_are_drawn_between_vectors(self) -> None:
        server = self.start()
        place = {**CENTER, "center": {"type": "Point", "coordinates": [12, 48.5]}, "targetScale": 5_000_000}
        server.call("view/setViewpoint", {"view": "v", "viewpoint": place})
        server.source.open(id="w", path="naturalearth_110m.gpkg")
        server.layer.add(map="m", source="w", source_layer="countries", id="l")
        server.layer.update(layer="l", renderer={"type": "simple", "symbol": {"type": "simpleFill", "color": "#00FF00"}})
        server.layer.add_raster(map="m", path="colors.tif", id="r", raster_renderer=plain("#0000FF"))
        server.layer.load(map="m")
        page = self.open()
        self.color(page, 400, 300, (0, 0, 255))
        server.layer.update(layer="r", raster_renderer=plain("#FF0000"))
        self.color(page, 400, 300, (255, 0, 0))
        server.layer.update(layer="r", opacity=0.5)
        self.color(page, 400, 300, (128, 128, 0))
        page.value("document.querySelector('[data-layer=r] input').click()")
        self.color(page, 400, 300, (0, 255, 0))
        server.layer.update(layer="r", is_visible=True, opacity=1, max_scale=10_000_000)
        page.until("preview.map.getLayer('layer:r#0').maxzoom < preview.map.getZoom()")
        self.color(page, 400, 300, (0, 255, 0))
        server.layer.update(layer="r", max_scale=1)
        self.color(page, 400, 300, (255, 0, 0))
        server.layer.move(layer="r", index=0)
        self.color(page, 400, 300, (0, 255, 0))
        self.assertEqual(page.said(), [])

    def test_a_raster_that_cannot_be_read_is_named_and_the_rest_is_drawn(self) -> None:
        server = self.start()
        self.red()
        path = Path(self.folder) / "a.tif"
        shutil.copy(ROOT / "Tests" / "Fixtures" / "colors.tif", path)
        server.layer.add_raster(map="m", path=str(path), id="r")
        server.layer.load(layer="r")
        path.write_bytes(b"no raster")
        server.call("view/setViewpoint", {"view": "v", "viewpoint": {**CENTER, "targetScale": 20_000_000}})
        page = self.open()
        page.until("document.querySelector('[data-layer=r] label')?.classList.contains('failed')")
        self.assertTrue(page.value("document.querySelector('[data-layer=r]').title"))
        self.color(page, 400, 300, (255, 0, 0))

    def test_the_location_moves(self) -> None:
        server = self.start()
        server.location.create_external(id="gps")
        server.location.start(location_source="gps")
        server.view.set_location_display(view="v", source="gps")
        page = self.open()
        for second, longitude in enumerate((8.4, 8.6)):
            place = {"position": {"type": "Point", "coordinates": [longitude, 47.3]}, "timestamp": f"2026-01-01T00:00:0{second}Z"}
            place["horizontalAccuracy"] = 4000
            server.location.push(location_source="gps", locations=[place])
            page.until(f"Math.abs(preview.features.place?.[0] - {longitude}) < 1e-9 && document.querySelector('.location') !== null")
        self.color(page, 442, 300, (0x1A, 0x73, 0xE8), near=40)
        # 4 km there are 22 pixels, faintly blue on white.
        self.color(page, 442 + 15, 300, (0xDD, 0xEA, 0xFB), near=8)
        self.color(page, 442 + 30, 300, (255, 255, 255))

    def test_entities_move_and_fences_are_outlined(self) -> None:
        server = self.start()
        server.entity.create(id="e", fields=[{"name": "ship", "type": "string"}], track_id_field="ship")
        server.entity.connect(entity_source="e")
        server.layer.add(map="m", entity_source="e", id="l")
        disc = {"type": "simpleMarker", "color": "#FF00FF", "size": 40, "outline": {"color": "#FF00FF", "width": 1}}
        server.layer.update(layer="l", renderer={"type": "simple", "symbol": disc})
        page = self.open()
        for longitude, x in ((8.5, 400), (8.6, 442)):
            feature = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [longitude, 47.3]}, "properties": {"ship": "a"}}
            server.entity.push(entity_source="e", features=[feature])
            self.color(page, x, 300, (255, 0, 255))
        self.color(page, 400, 300, (255, 255, 255))
        server.overlay.add_graphics(overlay="o", graphics=[{"geometry": SQUARE, "symbol": RED}])
        server.geotrigger.create(id="g", feed="e", fences="o")
        page.until("preview.map.queryRenderedFeatures().some(({source}) => source === 'fence:o')")

    def test_a_map_that_is_not_in_web_mercator_says_so(self) -> None:
        server = self.start()
        server.map.create(id="u", spatial_reference="EPSG:25832")
        server.view.set_content(view="v", map="u", viewpoint=CENTER)
        self.red()
        page = self.open()
        self.assertIn("EPSG:25832", page.until("document.querySelector('#notes').innerText"))
        self.color(page, 400, 300, (255, 0, 0))

    def test_two_pages_follow_one_view(self) -> None:
        self.start()
        self.red()
        first, second = self.open(), self.open(640, 480)
        first.drag((400, 300), (350, 300))
        first.until("!preview.map.isMoving() && preview.camera.isSettled")
        center = first.value("preview.map.getCenter().toArray()")
        second.until(f"Math.abs(preview.map.getCenter().lng - {center[0]}) < 1e-9")
        second.drag((300, 200), (300, 260))
        second.until("!preview.map.isMoving() && preview.camera.isSettled")
        center = second.value("preview.map.getCenter().toArray()")
        first.until(f"Math.abs(preview.map.getCenter().lat - {center[1]}) < 1e-9")
        self.color(first, 400, 300, (255, 0, 0))
        self.color(second, 320, 240, (255, 0, 0))

    def test_a_page_says_that_the_server_has_ended_and_goes_on_with_the_next(self) -> None:
        self.start()
        page = self.open()
        self.server.close()
        self.stop()
        self.assertIn("has ended", page.until("!document.querySelector('#message').hidden && document.querySelector('#message').innerText"))
        self.start()
        self.red()
        page.until("document.querySelector('#message').hidden && preview.camera.view === 'v'")
        self.color(page, 400, 300, (255, 0, 0))

    def test_a_page_without_what_draws_says_how_to_get_it(self) -> None:
        with mock.patch.object(_page, "folders", return_value=[str(FILES)]):
            Shared.start(self)
        page = self.browser.page(self.url)
        self.addCleanup(page.close)
        self.assertIn("pip install maplibre", page.until("document.querySelector('#message')?.innerText"))

    def test_a_page_does_not_grow(self) -> None:
        server = self.start()
        self.red()
        page = self.open()
        size = "preview.connection.waiting + preview.model.waiting + preview.map.getStyle().layers.length + Object.keys(preview.map.getStyle().sources).length"
        before = page.value(size)

        def used() -> float:
            page.call("HeapProfiler.collectGarbage")
            return float(page.call("Runtime.getHeapUsage")["usedSize"])

        heaps = []
        for _ in range(3):
            for turn in range(200):
                server.overlay.update_graphics(overlay="o", graphics=[{"id": 0, "attributes": {"turn": turn}}])
                if turn % 20 == 0:
                    server.overlay.update(overlay="o", opacity=0.5 + turn / 1000)
            page.until("preview.model.waiting === 0 && preview.drawing.isIdle && preview.map.loaded()")
            heaps.append(used())
        self.assertEqual(page.value(size), before)
        print("heap in MB after each 200 changes:", [round(heap / 1e6, 2) for heap in heaps], file=sys.stderr)
        self.assertLess(heaps[2] - heaps[1], 2e6)


if __name__ == "__main__":
    unittest.main()
