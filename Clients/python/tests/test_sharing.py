"""Several clients on one model: who is there, whose steps are undone, what an edit keeps out."""

from __future__ import annotations

import json
from typing import Any

from sharing import POINT, Sharing

from geomodel.errors import GeoModelError


class PresenceTests(Sharing):
    async def test_clients_see_who_joins_changes_and_leaves(self) -> None:
        async with self.attached(1) as [first]:
            async with first.observe("/clients") as seen:
                self.assertEqual(list(seen.state["clients"]), ["c1"])
                async with self.attached(1) as [second]:
                    await self.until(seen, lambda state: len(state["clients"]) == 2)
                    self.assertEqual(seen.state["clients"]["c2"]["name"], "client-0")
                    made = await second.map.create(id="m", meta={"origin": "panel"})
                    self.assertEqual(made["map"], "m")
                    await second.client.update(cursor=[7, 46])
                    await self.until(seen, lambda state: state["clients"]["c2"].get("cursor") == [7, 46])
                await self.until(seen, lambda state: list(state["clients"]) == ["c1"])
            listed = self.servers()
            self.assertEqual([server["name"] for server in listed], ["t"])
            self.assertTrue(listed[0]["isModified"])

    async def test_changes_name_the_client(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m")
            async with first.observe("/maps/m/title") as seen:
                await second.map.update(map="m", title="B", meta={"origin": "panel"})
                async for delta in seen:
                    self.assertEqual(delta.origins[0], {"type": "client", "name": "panel", "id": "c2"})
                    break

    async def test_the_folder_of_a_client_is_its_own(self) -> None:
        here, there = self.folder / "here", self.folder / "there"
        for folder, name in ((here, "A"), (there, "B")):
            folder.mkdir()
            text = {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"n": name}, "geometry": POINT}]}
            (folder / "x.geojson").write_text(json.dumps(text))
        async with self.attached(1, cwd=here) as [first], self.attached(1, cwd=there) as [second]:
            self.assertEqual((await first.source.open(id="a", path="x.geojson"))["path"], str(here / "x.geojson"))
            self.assertEqual((await second.source.open(id="b", path="x.geojson"))["path"], str(there / "x.geojson"))

    async def test_a_reader_changes_nothing(self) -> None:
        async with self.attached(1) as [writer], self.attached(1, "--read-only") as [reader]:
            await writer.map.create(id="m")
            with self.assertRaises(GeoModelError) as refused:
                await reader.map.update(map="m", title="B")
            self.assertEqual(refused.exception.kind, "readOnlyClient")
            self.assertEqual((await reader.map.get(map="m"))["map"], "m")
            self.assertTrue((await reader.client.update(cursor=[0, 0]))["isReadOnly"])

    async def test_a_reader_neither_saves_nor_opens_documents(self) -> None:
        mine, other = self.folder / "mine.json", self.folder / "other.json"
        async with self.attached(1) as [writer], self.attached(1, "--read-only") as [reader]:
            await writer.map.create(id="m", title="saved")
            await writer.document.save_as(path=str(mine))
            await writer.map.update(map="m", title="unsaved")
            documents = reader.document
            for refusal in (
                documents.save(), documents.save_as(path=str(other)), documents.revert(), documents.new(), documents.open(path=str(mine)),
            ):
                with self.assertRaises(GeoModelError) as refused:
                    await refusal
                self.assertEqual(refused.exception.kind, "readOnlyClient")
                document = await writer.document.get()
                self.assertEqual((document["path"], document["isModified"]), (str(mine), True))
                self.assertEqual([map["title"] for map in (await writer.map.list())["maps"]], ["unsaved"])
            self.assertIn("saved", mine.read_text())
            self.assertNotIn("unsaved", mine.read_text())
            self.assertFalse(other.exists())

    async def test_a_reader_writes_no_files(self) -> None:
        out = self.folder / "out"
        out.mkdir()
        async with self.attached(1) as [writer], self.attached(1, "--read-only") as [reader]:
            await self.overlays(writer)
            await writer.overlay.add_graphics(overlay="o", graphics=[{"id": 1, "geometry": POINT}])
            await writer.location.create_external(id="gps")
            fields = [{"name": "id", "type": "string"}, {"name": "at", "type": "string"}]
            await writer.entity.create(id="fleet", fields=fields, track_id_field="id", time_field="at")
            for refusal in (
                reader.location.record(location_source="gps", path=str(out / "a.gpx")),
                reader.entity.record(entity_source="fleet", path=str(out / "a.csv")),
                reader.feature.export(overlay="o", path=str(out / "a.geojson")),
                reader.feature.export(overlay="o", path=str(out / "a.gpkg")),
                reader.package.export(path=str(out / "a.gmpk")),
            ):
                with self.assertRaises(GeoModelError) as refused:
                    await refusal
                self.assertEqual(refused.exception.kind, "readOnlyClient", refused.exception)
            self.assertEqual(list(out.iterdir()), [])
            await writer.feature.export(overlay="o", path=str(out / "a.geojson"))

class HistoryTests(Sharing):
    async def test_a_client_undoes_its_own_steps(self) -> None:
        async with self.attached(2) as [first, second]:
            await self.overlays(first)
            await first.overlay.add_graphics(overlay="o", graphics=[{"id": 1, "geometry": POINT, "attributes": {"n": 1}}])
            await second.overlay.add_graphics(overlay="o", graphics=[{"id": 2, "geometry": POINT, "attributes": {"k": 2}}])
            await second.map.update(map="m", title="B")
            undone = await first.edit.undo(own=True)
            self.assertEqual(undone["names"], ["overlay/addGraphics"])
            self.assertEqual(await self.graphics(second), {2: {"k": 2}})
            # The step of the other is taken back as ever, and what took the first one back, too.
            self.assertEqual((await second.edit.undo(own=True))["names"], ["map/update"])
            redone = await first.edit.redo(own=True)
            self.assertEqual(redone["names"], ["overlay/addGraphics"])
            self.assertEqual(set(await self.graphics(second)), {1, 2})
            await second.edit.undo(own=True)
            self.assertEqual(set(await self.graphics(second)), {1})
            history = await first.edit.history()
            while history["canUndo"]:
                await first.edit.undo()
                history = await first.edit.history()
            self.assertEqual((await first.map.list())["maps"], [])

    async def test_steps_that_touched_the_same_conflict(self) -> None:
        async with self.attached(2) as [first, second]:
            await self.overlays(first)
            await first.overlay.add_graphics(overlay="o", graphics=[{"id": 1, "geometry": POINT, "attributes": {"n": 1}}])
            await first.overlay.update(overlay="o", opacity=0.5)
            await second.overlay.update(overlay="o", name="other")
            # Other members of the same object.
            await first.edit.undo(own=True)
            overlay = await first.overlay.get(overlay="o")
            self.assertEqual((overlay["opacity"], overlay["name"]), (1, "other"))
            await second.overlay.update_graphics(overlay="o", graphics=[{"id": 1, "attributes": {"n": 5}}])
            for _ in range(2):
                with self.assertRaises(GeoModelError) as refused:
                    await first.edit.undo(own=True)
                self.assertEqual(refused.exception.kind, "undoConflict")
                self.assertEqual(refused.exception.data["client"], "c2")
                self.assertEqual(refused.exception.data["step"], "overlay/updateGraphics")
            await second.edit.undo(own=True)
            await first.edit.undo(own=True)
            self.assertEqual(await self.graphics(first), {})

    async def test_own_undo_of_several_steps_is_redone_step_by_step(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m", title="A")
            await first.map.update(map="m", title="B")
            await first.map.update(map="m", min_scale=500)
            await second.map.update(map="m", max_scale=10)
            undone = await first.edit.undo(own=True, steps=2)
            self.assertEqual(undone["names"], ["map/update", "map/update"])
            self.assertEqual(self.shown(await second.map.get(map="m")), ("A", None, 10))
            self.assertEqual((await first.edit.redo(own=True))["names"], ["map/update"])
            self.assertEqual(self.shown(await second.map.get(map="m")), ("B", None, 10))
            await second.map.update(map="m", max_scale=20)
            self.assertEqual((await first.edit.redo(own=True))["names"], ["map/update"])
            self.assertEqual(self.shown(await second.map.get(map="m")), ("B", 500, 20))
            with self.assertRaises(GeoModelError) as none:
                await first.edit.redo(own=True)
            self.assertEqual(none.exception.kind, "nothingToRedo")
            await first.edit.undo(own=True, steps=2)
            self.assertEqual((await first.edit.redo(own=True, steps=2))["names"], ["map/update", "map/update"])
            self.assertEqual(self.shown(await second.map.get(map="m")), ("B", 500, 20))
            while (await second.edit.history())["canUndo"]:
                await second.edit.undo()
            self.assertEqual((await second.map.list())["maps"], [])
            while (await second.edit.history())["canRedo"]:
                await second.edit.redo()
            self.assertEqual(self.shown(await second.map.get(map="m")), ("B", 500, 20))

    def shown(self, map: Any) -> tuple[Any, ...]:
        return map.get("title"), map.get("minScale"), map.get("maxScale")

    async def test_what_was_undone_can_be_redone_after_others_changes(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m", title="A")
            await first.map.update(map="m", title="B")
            await first.map.update(map="m", min_scale=500)
            # The newest of all, one after the other.
            await first.edit.undo(own=True)
            await first.edit.undo(own=True)
            self.assertTrue((await first.edit.history())["canRedo"])
            await second.map.update(map="m", max_scale=10)
            await second.map.update(map="m", max_scale=20)
            await first.edit.redo(own=True)
            self.assertEqual(self.shown(await second.map.get(map="m")), ("B", None, 20))
            await first.edit.redo(own=True)
            self.assertEqual(self.shown(await second.map.get(map="m")), ("B", 500, 20))
            await first.edit.undo(own=True)
            await first.map.create(id="n")
            with self.assertRaises(GeoModelError) as none:
                await first.edit.redo(own=True)
            self.assertEqual(none.exception.kind, "nothingToRedo")
            while (await second.edit.history())["canUndo"]:
                await second.edit.undo()
            self.assertEqual((await second.map.list())["maps"], [])
            # What another changed meanwhile, and what was undone as ever, conflict and are gone as before.
            await first.map.create(id="o", title="A")
            await first.map.update(map="o", title="B")
            await first.edit.undo(own=True)
            await second.map.update(map="o", title="C")
            with self.assertRaises(GeoModelError) as conflict:
                await first.edit.redo(own=True)
            self.assertEqual((conflict.exception.kind, conflict.exception.data["client"]), ("undoConflict", "c2"))
            await first.map.update(map="o", min_scale=5)
            await first.edit.undo()
            await second.map.update(map="o", max_scale=1)
            with self.assertRaises(GeoModelError):
                await first.edit.redo(own=True)

    async def test_own_undo_leaves_what_another_took_back_and_set_again(self) -> None:
        for again in (5000, None):
            async with self.attached(3) as [first, second, third]:
                made = await first.map.create(title="A")
                map = made["map"]
                await first.map.update(map=map, title="B")
                await second.map.update(map=map, min_scale=5000)
                await third.map.update(map=map, max_scale=10)
                await second.edit.undo(own=True)
                if again:
                    await second.map.update(map=map, min_scale=again)
                await first.edit.undo(own=True)
                now = await first.map.get(map=map)
                self.assertEqual((now["title"], now.get("minScale"), now["maxScale"]), ("A", again, 10))

    async def test_own_redo_repeats_what_was_undone_last(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m", title="A")
            await first.map.update(map="m", title="B")
            await second.map.update(map="m", min_scale=5000)
            await first.edit.undo(own=True)
            await first.map.update(map="m", max_scale=10)
            await first.edit.undo(own=True)
            await first.edit.redo(own=True)
            now = await first.map.get(map="m")
            self.assertEqual((now["title"], now.get("maxScale")), ("A", 10))

    async def test_an_edit_keeps_others_out_and_goes_with_its_client(self) -> None:
        async with self.attached(1) as [other]:
            await self.overlays(other)
            async with self.attached(1) as [editor]:
                await editor.edit.begin(name="drag")
                await editor.map.update(map="m", title="half")
                for refusal in (other.map.update(map="m", title="mine"), other.edit.undo(), other.edit.begin(), other.edit.end()):
                    with self.assertRaises(GeoModelError) as refused:
                        await refusal
                    self.assertEqual((refused.exception.kind, refused.exception.data["client"]), ("editInProgress", "c2"))
                await other.client.update(cursor=[1, 1])
                self.kill_forwarder(editor)
            async with other.observe("/edit/isEditing") as seen:
                await self.until(seen, lambda state: state["edit"]["isEditing"] is False)
            self.assertIsNone((await other.map.get(map="m")).get("title"))
