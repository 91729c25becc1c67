"""The definition of the protocol in pieces that an agent can read: the domains, one domain, one method, one type, the expressions."""

from __future__ import annotations

import re
from typing import Any, Mapping

from ._answers import BYTES, size_of

_SENTENCE = re.compile(r"(?<=[.:])\s")


def described(definition: Mapping[str, Any], name: str | None) -> dict[str, Any] | None:
    """What is known of a name; None when there is nothing of that name."""
    methods = {method["name"]: method for method in definition["methods"]}
    schemas = definition["components"]["schemas"]
    domains: dict[str, list[str]] = {}
    for method in definition["methods"]:
        for tag in method.get("tags", ()):
            domains.setdefault(tag["name"], []).append(method["name"])
    if not name:
        return {
            "domains": {domain: len(names) for domain, names in domains.items()},
            "next": "describe with a domain for its methods, with a method for its params, with 'expressions' for CQL2's functions",
        }
    if name in methods:
        return _method(methods[name], schemas)
    if name in domains:
        return {"domain": name, "methods": {each: methods[each]["summary"] for each in domains[name]}}
    if name in schemas:
        return _within(lambda words: {"type": name, **_type(schemas[name], schemas, words)})
    return None


def names(definition: Mapping[str, Any]) -> list[str]:
    """All names that `described` knows."""
    found = {tag["name"] for method in definition["methods"] for tag in method.get("tags", ())}
    return [*(method["name"] for method in definition["methods"]), *found, *definition["components"]["schemas"], "expressions"]


def expressions(language: Mapping[str, Any]) -> dict[str, Any]:
    """CQL2 as the server has it: each function with its params and an example."""
    functions = {}
    for each in language["functions"]:
        params = ", ".join(param["name"] + ("?" if param.get("isOptional") else "") for param in each["params"])
        functions[f"{each['name']}({params})"] = {"doc": _sentence(each["doc"]), "example": each.get("example")}
    answer = {"language": "CQL2 text", "operators": [each["form"] for each in language["operators"]], "functions": functions}
    if size_of(answer) > BYTES:
        answer["functions"] = {name: each["example"] or each["doc"] for name, each in functions.items()}
    return answer


def _method(method: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    example = method["examples"][0] if method.get("examples") else None

    def answer(words: int) -> dict[str, Any]:
        params = {}
        for param in method["params"]:
            if param["name"] != "meta":
                told = _described(param["schema"], param.get("description"), words)
                params[param["name"] + ("" if param.get("required") else "?")] = told
        made = {
            "method": method["name"],
            "doc": method["description"] if words > 1 else method["summary"],
            "params": params,
            "result": _type(_resolved(method["result"]["schema"], schemas), schemas, 1).get("members"),
            "errors": [error["data"]["kind"] for error in method.get("errors", ())],
        }
        if words:
            made["types"] = _types(method["params"], schemas, words)
        if example is not None:
            made["example"] = {param["name"]: param["value"] for param in example["params"]}
        return {key: value for key, value in made.items() if value not in (None, {}, [])}

    return _within(answer)


def _within(answer: Any) -> dict[str, Any]:
    """The answer with as many words as fit: whole texts, first sentences, no types of params."""
    for words in (9, 1, 0):
        made: dict[str, Any] = answer(words)
        if size_of(made) <= BYTES:
            return made
    return made


def _types(params: Any, schemas: Mapping[str, Any], words: int) -> dict[str, Any]:
    """The types that params name, and those that these name, but for what an identifier or a box is."""
    found: dict[str, Any] = {}
    waiting = [ref for param in params if param["name"] != "meta" for ref in _references(param["schema"])]
    for depth in range(2):
        following: list[str] = []
        for name in waiting:
            if name not in found and name in schemas:
                found[name] = _type(schemas[name], schemas, min(words, 1))
                following += _references(schemas[name])
        waiting = following if words > 1 or depth == 0 else []
    return found


def _type(schema: Mapping[str, Any], schemas: Mapping[str, Any], words: int) -> dict[str, Any]:
    made: dict[str, Any] = {"doc": _words(schema.get("description"), words)}
    if "enum" in schema:
        docs = schema.get("x-enum-descriptions", {})
        made["values"] = {value: docs.get(value, "") for value in schema["enum"]} if words > 1 else schema["enum"]
    if "properties" in schema:
        made["members"] = _members(schema, words)
    if "oneOf" in schema:
        made["oneOf"] = [
            {"doc": _words(each.get("description"), words), "members": _members(each, words)}
            if "properties" in each else _short(each)
            for each in schema["oneOf"]
        ]
    if schema.get("examples") and words:
        made["example"] = schema["examples"][0]
    if not made.keys() & {"values", "members", "oneOf"}:
        made["is"] = _short(schema)
    return {key: value for key, value in made.items() if value not in (None, "")}


def _members(schema: Mapping[str, Any], words: int) -> dict[str, str]:
    required = schema.get("required", ())
    return {
        name + ("" if name in required else "?"): _described(member, member.get("description"), words)
        for name, member in schema["properties"].items()
    }


def _described(schema: Mapping[str, Any], doc: str | None, words: int) -> str:
    text = _short(schema)
    if "default" in schema:
        text += f" = {schema['default']!r}"
    told = _words(doc, words)
    return f"{text}. {told}" if told else text


def _short(schema: Mapping[str, Any]) -> str:
    """A schema in a word or two."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return repr(schema["const"])
    if "enum" in schema:
        return " | ".join(map(repr, schema["enum"]))
    if schema.get("type") == "array":
        return f"[{_short(schema.get('items', {}))}]"
    if "oneOf" in schema or "anyOf" in schema:
        return " | ".join(map(_short, schema.get("oneOf") or schema["anyOf"]))
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<="}
    bounds = [f"{sign} {schema[name]}" for name, sign in signs.items() if name in schema]
    return " ".join([str(schema.get("type", "any")), *bounds])


def _references(schema: Any) -> list[str]:
    if isinstance(schema, Mapping):
        own = [str(schema["$ref"]).rpartition("/")[2]] if "$ref" in schema else []
        return own + [ref for value in schema.values() for ref in _references(value)]
    return [ref for value in schema for ref in _references(value)] if isinstance(schema, list) else []


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = schemas[str(schema["$ref"]).rpartition("/")[2]]
    return schema


def _words(doc: str | None, words: int) -> str:
    if not doc or not words:
        return ""
    return doc if words > 1 else _sentence(doc)


def _sentence(doc: str) -> str:
    return _SENTENCE.split(doc.strip(), maxsplit=1)[0].rstrip(":")
