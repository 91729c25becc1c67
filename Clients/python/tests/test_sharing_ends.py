"""How a server that clients share begins and ends, and what becomes of its model."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from sharing import POINT, Sharing
from support import SERVER

import geomodel
from geomodel.errors import ClosedError, GeoModelError, ServerDiedError


class LifeTests(Sharing):
    async def test_requests_of_a_lost_server_are_answered(self) -> None:
        async with self.attached(1) as [client]:
            await client.clock.set(mode="manual")
            await self.overlays(client)
            waiting = asyncio.ensure_future(
                client.view.animate_viewpoint(
                    view="v", viewpoint={"type": "centerAndScale", "center": POINT, "spatialReference": "EPSG:4326", "targetScale": 1000}, duration=5
                )
            )
            await client.session.echo(value=1)
            os.kill(self.servers()[0]["process"], signal.SIGKILL)
            with self.assertRaises(GeoModelError) as lost:
                await asyncio.wait_for(waiting, 30)
            self.assertEqual(lost.exception.kind, "serverLost")
        # The socket that it left is in nobody's way.
        async with self.attached(1) as [client]:
            self.assertEqual((await client.map.list())["maps"], [])

    async def test_a_client_attaches_again(self) -> None:
        async with geomodel.launch(SERVER, attach="t", env=self.env) as client:
            self.assertEqual(client.client_id, "c1")
            await self.overlays(client)
            async with client.observe(["/maps/*/title", "/clients"]) as titles, client.observe_viewpoint("v") as viewpoints:
                self.run_server("--stop", "t")
                with self.assertRaises(ServerDiedError):
                    while True:
                        await titles.get(30)
                with self.assertRaises(ServerDiedError):
                    await client.map.list()
                self.assertEqual(await client.reattach(), [viewpoints])
                self.assertTrue((await titles.get(30)).resynced)
                self.assertEqual(list(titles.state), ["clients"])
                await client.map.create(id="n", title="B")
                await self.until(titles, lambda state: state.get("maps") == {"n": {"title": "B"}})
            with self.assertRaises(ClosedError):
                await client.reattach()

    async def test_attaching_again_may_be_tried_again(self) -> None:
        async with geomodel.launch(SERVER, attach="t", env=self.env) as client:
            await self.overlays(client)
            async with client.observe("/maps/*/title") as titles:
                self.run_server("--stop", "t")
                with self.assertRaises(ServerDiedError):
                    while True:
                        await titles.get(30)
                # The server cannot start: its socket's place is taken.
                (self.folder / "geomodel-server" / "t.sock" / "x").mkdir(parents=True)
                for _ in range(2):
                    with self.assertRaises(ServerDiedError) as refused:
                        await client.reattach()
                    self.assertIn("t.sock", str(refused.exception))
                    with self.assertRaises(ServerDiedError):
                        await client.map.list()
                shutil.rmtree(self.folder / "geomodel-server" / "t.sock")
                # Two at once: the second finds it attached.
                again = await asyncio.gather(client.reattach(), client.reattach(), return_exceptions=True)
                self.assertEqual(again[0], [])
                self.assertIsInstance(again[1], ClosedError)
                await client.map.create(id="n", title="B")
                await self.until(titles, lambda state: state.get("maps") == {"n": {"title": "B"}})
                # A killed daemon, then a killed forwarder.
                for lose in (lambda: os.kill(self.servers()[0]["process"], signal.SIGKILL), lambda: self.kill_forwarder(client)):
                    lose()
                    with self.assertRaises((ServerDiedError, GeoModelError)):
                        while True:
                            await client.session.echo(value=1)
                    with self.assertRaises(ServerDiedError):
                        while True:
                            await titles.get(30)
                    self.assertEqual(await client.reattach(), [])
                    self.assertEqual(await client.session.echo(value=1), {"value": 1})
            self.run_server("--stop", "t")
            with self.assertRaises(ServerDiedError):
                while True:
                    await client.session.echo(value=1)
        # Closed while it is lost.
        with self.assertRaises(ClosedError):
            await client.reattach()

    async def test_an_unsaved_model_is_kept_and_recovered(self) -> None:
        document = self.folder / "world.json"
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="saved")
            await client.document.save_as(path=str(document))
            await client.map.update(map="m", title="unsaved")
        said = self.run_server("--stop", "t")
        self.assertIn("t.recovery.json", said.stdout)
        async with self.attached(1) as [client]:
            self.assertTrue(client.initialized["recovery"].endswith("t.recovery.json"))
            self.assertEqual((await client.map.list())["maps"], [])
            info = await client.document.recover()
            self.assertEqual((info["path"], info["isModified"]), (str(document), True))
            self.assertEqual((await client.map.get(map="m"))["title"], "unsaved")
            with self.assertRaises(GeoModelError) as none:
                await client.document.recover()
            self.assertEqual(none.exception.kind, "noRecovery")
            await client.document.save()
        self.assertNotIn("recovery", self.run_server("--stop", "t").stdout)
        self.assertIn("unsaved", document.read_text())

    async def test_a_model_that_cannot_be_kept_beside_the_socket_is_kept_elsewhere(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="unsaved")
            (self.folder / "geomodel-server" / "t.recovery.json" / "x").mkdir(parents=True)
            notices = client.notifications("$/logMessage")
            self.assertIn("state/geomodel-server/t.recovery.json", self.run_server("--stop", "t").stdout)
            notice = await notices.get(30)
            self.assertEqual((notice["level"], notice["event"]), ("warning", "modelKept"))
            self.assertEqual(Path(notice["path"]), self.folder / "state" / "geomodel-server" / "t.recovery.json")
            self.assertEqual(Path(notice["path"]).stat().st_mode & 0o777, 0o600)
        async with self.attached(1) as [client]:
            await client.document.recover()
            self.assertEqual((await client.map.get(map="m"))["title"], "unsaved")
            await client.document.save_as(path=str(self.folder / "w.json"))
        self.assertNotIn("recovery", self.run_server("--stop", "t").stdout)

    async def test_a_model_that_can_be_kept_nowhere_is_not_lost_at_once(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="unsaved")
            for folder in ("geomodel-server", "state/geomodel-server", f"tmp/geomodel-server-{os.getuid()}"):
                (self.folder / folder / "t.recovery.json" / "x").mkdir(parents=True)
                (self.folder / folder).chmod(0o700)
            notices = client.notifications("$/logMessage")
            refused = self.run_server("--stop", "t")
            self.assertEqual(refused.returncode, 75)
            self.assertIn("cannot be kept", refused.stderr)
            notice = await notices.get(30)
            self.assertEqual((notice["level"], notice["event"]), ("error", "modelNotKept"))
            self.assertEqual((await client.map.get(map="m"))["title"], "unsaved")
            self.assertEqual(self.run_server("--stop", "t").returncode, 0)

    async def test_half_an_edit_is_not_kept(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="whole")
            await client.edit.begin(name="drag")
            await client.map.update(map="m", title="half")
            self.run_server("--stop", "t")
        async with self.attached(1) as [client]:
            await client.document.recover()
            self.assertEqual((await client.map.get(map="m"))["title"], "whole")

    async def test_a_model_that_nobody_recovered_is_kept(self) -> None:
        for name in ("precious", "other"):
            async with self.attached(1) as [client]:
                await client.map.create(id=name)
            self.run_server("--stop", "t")
        kept = [path.read_text() for path in (self.folder / "geomodel-server").glob("t.recovery*.json*")]
        self.assertTrue(any('"precious"' in text for text in kept))

    async def test_it_ends_when_nobody_is_there_and_nothing_is_unsaved(self) -> None:
        async with self.attached(1, "--linger", "0") as [client]:
            await client.session.echo(value=1)
        await self.gone()
        async with self.attached(1, "--linger", "0") as [client]:
            await client.map.create(id="m")
        self.assertEqual(len(self.servers()), 1)

    async def test_one_server_has_a_name(self) -> None:
        async with self.attached(1):
            second = self.run_server("--listen", "t")
            self.assertEqual(second.returncode, 69)
            self.assertIn("another server has the name t", second.stderr)
        started = await asyncio.gather(
            *(geomodel.launch([str(SERVER), "--attach", "both"], env=self.env) for _ in range(5))
        )
        self.assertEqual(len((await started[0].client.list())["clients"]), 5)
        for client in started:
            await client.close()

    def test_what_cannot_succeed_fails_at_once(self) -> None:
        taken = socket.create_server(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        for folder, flags, reason in ((None, ["--listen-web", port], port), ("t.sock/x", [], "t.sock"), ("t.lock", [], "t.lock")):
            (self.folder / "geomodel-server").mkdir(mode=0o700)
            if folder is not None:
                (self.folder / "geomodel-server" / folder).mkdir(parents=True)
            before = time.monotonic()
            refused = self.run_server("--attach", "t", *flags)
            self.assertEqual(refused.returncode, 69, refused)
            self.assertIn("no server t can be started", refused.stderr)
            self.assertIn(reason, refused.stderr)
            self.assertNotIn("has the name", refused.stderr)
            self.assertLess(time.monotonic() - before, 8)
            shutil.rmtree(self.folder / "geomodel-server")
        taken.close()

    def test_names_and_folders_are_checked(self) -> None:
        for name in ("../x", ".x", "a/b", "x" * 65):
            self.assertEqual(self.run_server(f"--listen={name}").returncode, 69)
        (self.folder / "geomodel-server").mkdir(mode=0o755, exist_ok=True)
        (self.folder / "geomodel-server").chmod(0o755)
        refused = self.run_server("--listen", "t")
        self.assertEqual(refused.returncode, 69)
        self.assertIn("0700", refused.stderr)

    def test_a_folder_with_a_long_name_is_told_at_once(self) -> None:
        deep = self.folder / ("x" * 100)
        deep.mkdir()
        self.env = {"XDG_RUNTIME_DIR": str(deep)}
        for flag in ("--attach", "--listen"):
            refused = self.run_server(flag, "t")
            self.assertGreater(refused.returncode, 1)
            self.assertIn("File name too long", refused.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root becomes another user")
    async def test_another_user_does_not_get_in(self) -> None:
        async with self.attached(1):
            # Even where the folder and the socket would let it.
            for path in (self.folder, self.folder / "geomodel-server"):
                path.chmod(0o755)
            self.socket_path().chmod(0o666)
            program = (
                "import os, socket; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
                f"s.connect({str(self.socket_path())!r}); s.sendall(b'{{}}\\n'); print(s.recv(10))"
            )
            ran = subprocess.run(["python3", "-c", program], capture_output=True, text=True, timeout=30)
            self.assertTrue(ran.stdout == "b''\n" or "Error" in ran.stderr, ran)
            self.folder.joinpath("geomodel-server").chmod(0o700)


if __name__ == "__main__":
    unittest.main()
