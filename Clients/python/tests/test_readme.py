"""What the READMEs let people paste does what they say, on the real server."""

import importlib.util
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from support import ROOT, SERVER, SOURCE, child_environment, needs_server

# What the fragments take for granted.
BLOCKING = f"""import geomodel
p = {{"type": "Point", "coordinates": [-84.25, 36.6]}}
with geomodel.launch_sync(root_path={str(ROOT / "Tests" / "Fixtures")!r}) as server:
    server.map.create(id="m1")
    server.view.create(id="v1", map="m1")
    server.source.open(id="w", path="naturalearth_110m.gpkg")
    server.layer.add(map="m1", source="w", source_layer="cities", id="l1")
    server.scene.create(id="s1", elevation_sources=["jacksboro_dem.tif"])
"""
RUNNING = """import asyncio, geomodel
async def main():
    async with geomodel.launch() as server:
        await server.map.create(id="m1")
        await server.view.create(id="v1", map="m1")
"""


def block(text: str, before: str, language: str = "") -> str:
    """The first code block of a language behind `before`, or the first indented one."""
    rest = text[text.index(before) + len(before):]
    found = re.search(rf"```{language}\n(.*?)```", rest, re.S) if language else re.search(r"\n\n((?:    .*\n)+)", rest)
    assert found is not None
    return found[1]


@needs_server
class ReadmeTests(unittest.TestCase):
    def run_python(self, code: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(code, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, str(script)], capture_output=True, text=True, cwd=ROOT, timeout=60,
                env={**child_environment(), "GEOMODEL_SERVER": str(SERVER)},
            )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_session_by_hand(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        messages = block(text, "## By hand", "sh").split("<<'END'\n")[1].split("END\n")[0]
        done = subprocess.run([str(SERVER)], input=messages, capture_output=True, text=True, cwd=ROOT, timeout=60)
        answers = done.stdout.splitlines()
        self.assertEqual((done.returncode, len(answers)), (0, len(messages.splitlines())))
        self.assertEqual(answers[-1], block(text, "## By hand", "json").strip())

    def test_the_first_script(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        said = self.run_python(block(text, "## From Python", "python"))
        self.assertEqual(said, block(text, "first.py` prints").replace("    ", "", 1))

    def test_the_commands_of_the_shell(self) -> None:
        for readme in (ROOT / "README.md", SOURCE.parent / "README.md"):
            text = block(readme.read_text(encoding="utf-8"), "## From the shell", "console")
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "Tests").symlink_to(ROOT / "Tests")
                said = "".join(f"$ {command}\n{self.run_shell(command, folder)}" for command in re.findall(r"(?m)^\$ (.*)$", text))
            self.assertEqual(said, text, readme)

    def run_shell(self, command: str, folder: str) -> str:
        """What a command prints, on standard output and standard error, without a terminal."""
        script = f'geomodel() {{ {sys.executable} -m geomodel "$@"; }}; {command}'
        done = subprocess.run(
            ["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=60,
            env={**child_environment(), "GEOMODEL_SERVER": str(SERVER)},
        )
        return done.stdout

    def test_the_scripts_of_the_client(self) -> None:
        text = (SOURCE.parent / "README.md").read_text(encoding="utf-8")
        self.assertEqual(self.run_python(block(text, "## A first script", "python")), "['Paris']\n")
        self.assertEqual(self.run_python(block(text, "The same with asyncio", "python")), "")
        self.assertEqual(self.run_python(block(text, '`edits="deferred"` sends', "python")), "Draft\nParis 1\n")

    @unittest.skipIf(importlib.util.find_spec("geopandas") is None, "no geopandas")
    def test_the_scripts_with_geopandas(self) -> None:
        text = (SOURCE.parent / "README.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            heights = block(text, "## Heights and rasters", "python").replace('"dem.png"', repr(f"{folder}/dem.png"))
            self.assertEqual(self.run_python(heights), "[513.0, 363.0]\n")
            self.assertTrue((Path(folder) / "dem.png").read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(self.run_python(block(text, "## GeoPandas", "python")), "[4] EPSG:4326 [9.0014]\n")

    def test_the_fragments_of_the_client(self) -> None:
        text = (SOURCE.parent / "README.md").read_text(encoding="utf-8")
        calls, follows = block(text, "## Options of calls", "python"), block(text, "## Observing the model", "python")
        # One of the calls shows a refusal, of a map that has changed since.
        calls = calls.replace("if_revision=7", "if_revision=server.map.get(map='m1')['revision']")
        self.run_python(BLOCKING + textwrap.indent(calls, "    "))
        ended = follows.replace("async for change in sub:", "for change in sub.take_all():")
        self.assertNotEqual(follows, ended, "the last loop has no end")
        said = self.run_python(RUNNING + textwrap.indent(ended, "        ") + "\nasyncio.run(main())\n")
        self.assertIn("'targetScale': 25000.0", said)


if __name__ == "__main__":
    unittest.main()
