"""The preview page: what its door serves and refuses, and the commands that open it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from previewing import Shared
from support import ROOT, SERVER, child_environment, needs_server

import geomodel
from geomodel import _page

FILES = Path(_page.__file__).parent / "_preview"


@needs_server
class DoorTests(Shared):
    def test_the_page_and_its_files_are_served_to_those_who_know_the_token(self) -> None:
        self.start()
        path = urlsplit(self.url).path
        for name in ["", *(file.name for file in FILES.iterdir())]:
            answer = self.get(path + name)
            self.assertEqual(answer.status, 200, name)
            self.assertEqual(answer.read(), (FILES / (name or "index.html")).read_bytes())
        policy = answer.headers["content-security-policy"]
        self.assertIn("default-src 'none'; script-src 'self'; style-src 'self';", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(answer.headers["referrer-policy"], "no-referrer")
        self.assertEqual(self.get(path, Origin="http://localhost:8888").status, 200)

    def test_others_are_refused(self) -> None:
        self.start()
        path = urlsplit(self.url).path
        port = urlsplit(self.url).port
        wrong = path[:-2] + ("0" if path[-2] != "0" else "1") + "/"
        for status, each, headers in [
            (401, wrong, {}), (401, wrong + "preview.js", {}), (401, "//", {}), (401, "/../", {}),
            (403, path, {"Origin": "https://example.org"}), (403, path + "preview.js", {"Origin": "null"}),
            (403, path, {"Host": "example.org"}), (403, path + "preview.js", {"Host": f"example.org:{port}"}),
            (404, path + "other.js", {}), (404, path + "../camera.js", {}), (404, path + "..%2Fcamera.js", {}), (404, path[:-1], {}),
            (404, path + "/etc/passwd", {}), (403, "/proof/1", {"Origin": "https://example.org"}),
        ]:
            self.assertEqual(self.get(each, **headers).status, status, (each, headers))
        self.assertEqual(self.get(path, "POST").status, 405)

    def test_a_server_proves_that_it_knows_the_token(self) -> None:
        self.start()
        parts = urlsplit(self.url)
        for nonce in ("a", "0" * 64):
            expected = hashlib.sha256(f"{nonce}:{parts.port}:{parts.path.strip('/')}".encode()).hexdigest()
            self.assertEqual(self.get(f"/proof/{nonce}").read().decode(), expected)

    def test_without_the_flag_nothing_is_served(self) -> None:
        server = geomodel.launch_sync(SERVER, attach="t", args=["--listen-web", "0"])
        self.addCleanup(server.close)
        self.assertIsNone(_page.address([str(SERVER)], "t"))
        web = Path(self.folder, "geomodel-server", "t.web").read_text().strip()
        self.url = web.replace("ws:", "http:")
        token = urlsplit(web).query.removeprefix("token=")
        self.assertEqual([self.get(path).status for path in (f"/{token}/", f"/{token}/preview.js", "/proof/1")], [404] * 3)

    def test_the_next_server_of_the_name_has_the_same_address(self) -> None:
        self.start().close()
        before = self.url
        self.stop()
        self.start()
        self.assertEqual(self.url, before)


@needs_server
class CommandTests(Shared):
    def run_command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "geomodel", "preview", *words], env={**child_environment(), "GEOMODEL_SERVER": str(SERVER)},
            capture_output=True, text=True, timeout=120,
        )

    def test_a_file_is_opened_in_a_map_and_a_view(self) -> None:
        done = self.run_command(str(ROOT / "Tests/Fixtures/naturalearth_110m.gpkg"), "--attach", "t", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{64}/\n$")
        with geomodel.launch_sync(SERVER, attach="t") as server:
            self.assertEqual([server.layer.get(layer=id)["name"] for id in server.map.get(map="map")["operationalLayers"]], ["countries", "cities"])
            self.assertAlmostEqual(server.view.get(view="view")["center"]["coordinates"][0], 0, delta=1)
        again = self.run_command("t", "--view", "view", "--json")
        self.assertEqual(json.loads(again.stdout), {"name": "t", "url": f"{done.stdout.strip()}#view"})

    def test_a_server_without_the_page_is_refused(self) -> None:
        with geomodel.launch_sync(SERVER, attach="t"):
            done = self.run_command("t")
        self.assertEqual(done.returncode, 2)
        self.assertIn("geomodel serve --stop t", done.stderr)

    def test_a_notebook_shows_the_page_in_a_frame(self) -> None:
        self.start()
        shown = geomodel.preview("t", view="v", server=SERVER)
        self.assertIn(f'<iframe src="{self.url}#v"', shown._repr_html_())
        with self.assertRaisesRegex(geomodel.Error, "geomodel preview other"):
            geomodel.preview("other", server=SERVER)


if __name__ == "__main__":
    unittest.main()
