"""Stands in for protocol-gen's Python output where it has not been generated: `python3 tests/standin.py DIR`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PROTOCOL = Path(__file__).resolve().parents[3] / "Protocol"


def snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text("")
    kinds = json.loads((PROTOCOL / "errors.json").read_text())["errors"]
    lines = ["from ..errors import GeoModelError\n"]
    for error in kinds:
        name = error["kind"][0].upper() + error["kind"][1:] + "Error"
        error["name"] = name.replace("ErrorError", "Error")
        lines.append(f"class {error['name']}(GeoModelError):\n    kind = {error['kind']!r}\n    code = {error['code']}\n")
    table = ", ".join(f"{error['kind']!r}: {error['name']}" for error in kinds)
    (folder / "errors.py").write_text("\n".join(lines) + f"\nKIND_TO_ERROR = {{{table}}}\n")
    for flavour, base, prefix, wait in (("async", "AsyncCaller", "async ", "await "), ("sync", "SyncCaller", "", "")):
        lines = [f"from .._base import {base}\n"]
        for path in sorted((PROTOCOL / "domains").glob("*.json")):
            domain = json.loads(path.read_text())
            lines.append(f"class {domain['domain'].capitalize()}Methods({base}):\n    pass")
            for method in domain["methods"]:
                if method["shape"] == "lifecycle":
                    continue
                names = [param["name"] for param in method["params"]]
                arguments = "".join(f", {snake(name)}=None" for name in [*names, "meta"])
                members = ", ".join(f"{name!r}: {snake(name)}" for name in [*names, "meta"])
                lines.append(
                    f"    {prefix}def {snake(method['name'].split('/')[1])}(self, *{arguments}):\n"
                    f"        params = {{{members}}}\n"
                    f"        params = {{k: v for k, v in params.items() if v is not None}}\n"
                    f"        return {wait}self._call({method['name']!r}, params)\n"
                )
        (folder / f"methods_{flavour}.py").write_text("\n".join(lines))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
