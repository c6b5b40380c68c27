"""Write python/flashlane/keys.py and python/flashlane/figures.py from the schemas of the package.

Usage: python_keys.py [--check]
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from keyword import iskeyword
from pathlib import Path
from typing import Any

from flashlane import _flashlane

PACKAGE = Path(__file__).resolve().parents[1] / "python/flashlane"

#: Families of policies: users add to them, so every name and every table of parameters is a value.
FAMILIES = ("Arbitration", "Allocation", "Separation", "Victim", "Scheduling", "Isolation")
#: Tables of a flow, whose keys ``Flow`` takes by name.
FLOW_PARTS = ("FlowConfig", "SyntheticConfig", "TraceConfig", "CloneConfig")
PLAIN = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}
WIDTH = 110


def type_of(schema: dict[str, Any]) -> str:
    """The Python type of what a schema allows."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return either(type_of(one) for one in schema[several])
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    kinds = schema.get("type", "object")
    if isinstance(kinds, list):
        return either(type_of({**schema, "type": kind}) for kind in kinds)
    if kinds == "array":
        return f"list[{type_of(schema['items'])}]" if "items" in schema else "list[Any]"
    if kinds == "object" and "properties" in schema:
        pairs = (f"{key!r}: {type_of(one)}" for key, one in schema["properties"].items())
        raise ValueError(f"an object without a name: {', '.join(pairs)}")
    return PLAIN[kinds]


def either(types: Any) -> str:
    """Several types as one, literals together; ``None`` is last."""
    flat = [part for one in types for part in one.split(" | ")]
    literals = [one[8:-1] for one in flat if one.startswith("Literal[")]
    rest = list(dict.fromkeys(one for one in flat if not one.startswith("Literal[") and one != "None"))
    joined = ([f"Literal[{', '.join(literals)}]"] if literals else []) + rest
    return " | ".join(joined + ["None"] * ("None" in flat))


def doc(schema: dict[str, Any], indent: str) -> list[str]:
    """The description as a docstring."""
    text = schema.get("description", "").replace("\\", "\\\\").replace('"', "'").replace("`", "``")
    default = schema.get("default")
    if isinstance(default, (str, int, float)) and default != "" and not isinstance(default, bool):
        text = f"{text} Default: ``{default}``."
    if not text:
        return []
    lines = textwrap.wrap(f'"""{text}', WIDTH - len(indent) - 3)
    lines[-1] += '"""'
    return [indent + line for line in lines]


def typed_dict(name: str, schema: dict[str, Any], *, given: bool, bases: str = "") -> list[str]:
    """A class for a table of keys; ``given`` where users write it, so that keys may be left out."""
    required = schema.get("required", [])
    head = f"class {name}({bases or 'TypedDict'}{', total=False' if given else ''}):"
    lines = [head, *(doc(schema, "    ") or [f'    """{name}."""'])]
    for key, value in schema.get("properties", {}).items():
        kind = type_of(value)
        if given:
            kind = kind.removesuffix(" | None")
        if given and key in required:
            kind = f"Required[{kind}]"
        elif not given and key not in required:
            kind = f"NotRequired[{kind}]"
        lines += ["", f"    {key}: {kind}", *doc(value, "    ")]
    return lines


def alternatives(name: str, schema: dict[str, Any]) -> list[str]:
    """A choice by name, with the parameters of each as a table under its name."""
    lines, parts = [], []
    tables = {}
    for one in schema.get("anyOf", schema.get("oneOf", [])):
        if "properties" in one:
            for key, value in one["properties"].items():
                tables[key] = type_of(value)
        else:
            parts.append(type_of(one))
    if tables:
        if all(key.isidentifier() and not iskeyword(key) for key in tables):
            lines += [f"class {name}Table(TypedDict, total=False):"]
            lines += [f'    """``{name}`` with parameters: one name, and its table."""', ""]
            lines += [f"    {key}: {kind}" for key, kind in tables.items()] + [""]
        else:
            pairs = ", ".join(f"{key!r}: {kind}" for key, kind in tables.items())
            lines.append(f"{name}Table = TypedDict({name + 'Table'!r}, {{{pairs}}}, total=False)")
        parts.append(f"{name}Table")
    if name in FAMILIES:
        # Policies of users have names and parameters of their own.
        parts += ["str", "Mapping[str, Mapping[str, Any]]"]
    lines += [f"{name}: TypeAlias = {either(parts)}", *doc(schema, "")]
    return lines


def ordered(defs: dict[str, Any]) -> list[str]:
    """Names in such an order that each comes after the names that it uses."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        for one in references(defs[name]):
            visit(one)
        done.append(name)

    for name in defs:
        visit(name)
    return done


def references(schema: Any) -> list[str]:
    """Names that a schema refers to."""
    if isinstance(schema, list):
        return [name for one in schema for name in references(one)]
    if isinstance(schema, dict):
        own = [schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else []
        return own + [name for one in schema.values() for name in references(one)]
    return []


def definitions(defs: dict[str, Any], *, given: bool) -> list[str]:
    """All named types."""
    lines = []
    for name in ordered(defs):
        schema = defs[name]
        lines.append("")
        if schema.get("type") == "string" and "enum" not in schema:
            examples = " or ".join(f"``{example}``" for example in schema["examples"])
            lines += [f"{name}: TypeAlias = str", f'"""Text, such as {examples}."""']
        elif "properties" in schema or schema.get("additionalProperties") is False:
            lines += typed_dict(name, schema, given=given)
        else:
            lines += alternatives(name, schema)
    return lines


def flow_classes(defs: dict[str, Any]) -> list[str]:
    """What ``Flow`` takes by name: keys of the flow and of its source."""
    own = dict(defs["FlowConfig"]["properties"])
    for source in ("name", "synthetic", "trace", "clone", "mqsim"):
        own.pop(source)
    # A trace has a `limit` of its own, a number of requests.
    rates = own.pop("limit")
    lines = [
        "",
        *typed_dict("FlowKeys", {"description": "Keys of a flow itself.", "properties": own}, given=True),
    ]
    for name, source, without, what in (
        ("SyntheticFlow", "SyntheticConfig", None, "whose requests are drawn from distributions"),
        ("TraceFlow", "TraceConfig", "path", "that replays a trace"),
        ("CloneFlow", "CloneConfig", "of", "that draws the requests of a clone"),
    ):
        keys = {key: value for key, value in defs[source]["properties"].items() if key != without}
        requests = keys.get("limit")
        keys["limit"] = rates
        if requests is not None:
            said = f"{requests['description']} A table of rates limits the flow instead."
            keys["limit"] = {"anyOf": [requests, rates], "description": said}
        schema = {
            "description": f"What ``Flow`` takes for a flow {what}.".replace("``", "`"),
            "properties": keys,
        }
        lines += ["", *typed_dict(name, schema, given=True, bases="FlowKeys")]
    return lines


HEAD = '''"""{what}

Written by scripts/python_keys.py from the schemas of the simulator.
"""

from __future__ import annotations

'''


def keys_module() -> str:
    """Keys of devices and workloads."""
    device, workload = (json.loads(_flashlane.schema(of)) for of in ("device", "workload"))
    defs = device["$defs"] | workload["$defs"]
    # Flows have classes of their own; those of MQSim files come from files only.
    unused = [name for name in defs if name in FLOW_PARTS or name.startswith("Mqsim")]
    for name in unused:
        defs.pop(name)
    lines = definitions(defs, given=True)
    keys = {
        key: value for key, value in device["properties"].items() if key not in ("base", "compat", "source")
    }
    schema = {"description": "What `Device` takes by name: the keys of a device file.", "properties": keys}
    lines += ["", *typed_dict("DeviceKeys", schema, given=True)]
    lines += flow_classes(workload["$defs"])
    head = HEAD.format(
        what="Keys of devices and flows, for type checkers and editors: units, ranges, defaults."
    )
    imports = "from collections.abc import Mapping\n"
    imports += "from typing import Any, Literal, Required, TypeAlias, TypedDict\n"
    return head + imports + "\n".join(lines) + "\n"


def figures_module() -> str:
    """Figures of results."""
    summary, blame = (json.loads(_flashlane.schema(of)) for of in ("summary", "blame"))
    lines = definitions(summary["$defs"] | blame["$defs"], given=False)
    for name, schema in (("Summary", summary), ("Blame", blame)):
        lines += ["", *typed_dict(name, schema, given=False)]
    # A flow of a result has its figures as attributes, too.
    flow = summary["$defs"]["FlowSummary"]
    lines += [
        "",
        "class FlowFigures:",
        '    """Figures of a flow as attributes: those of ``FlowSummary``."""',
    ]
    for key, value in flow["properties"].items():
        lines += ["", f"    {key}: {type_of(value)}", *doc(value, "    ")]
    head = HEAD.format(what="Figures of results: what summary.json and blame.json hold, with their units.")
    imports = "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n"
    return head + imports + "\n".join(lines) + "\n"


def formatted(text: str) -> str:
    """As the formatter of the project leaves it."""
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run(
        [ruff, "format", "-", "--line-length", str(WIDTH)],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    fixed = subprocess.run(
        [ruff, "check", "-", "--quiet", "--isolated", "--select", "F401", "--fix"],
        input=done.stdout, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return fixed.stdout


def main(arguments: list[str]) -> None:
    """Write both files, or fail where they are out of date."""
    for name, text in (("keys.py", keys_module()), ("figures.py", figures_module())):
        path, text = PACKAGE / name, formatted(text)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is out of date: run scripts/python_keys.py")


if __name__ == "__main__":
    main(sys.argv[1:])
