"""Mutations of texts, bytes and trees of values, drawn from one random generator."""

import copy
import json
import math
from random import Random
from typing import Any

NUMBERS = [0, -1, 0.5, 1e-320, -1e308, 2**53 + 1, 2**63, -(2**63) - 1, 10**320, math.nan, math.inf, 100_001]
TEXTS = [
    *("", "\n", "\x00", "\x1b[2J", "\u202e", "\ud800", "null", "true", "1/0", "1/1/1", "../../etc/passwd"),
    *("/dev/zero", "~", "$(id)", '"', "{}", "{x!r}", "%s", "x" * 5_000, "\u00e9" * 300, "module:Class"),
    *("builtin/test", "dev", ":", "file:///etc/passwd", "s3://bucket", ".", "a/b/c", "--"),
]
YAML = [
    *("!!int abc", "!!timestamp x", "!!python/object:os.system x", "&a [*a]", "*nothing", "<<: x", "[", "{"),
    *("2026-99-99", "0x" + "f" * 40, "9" * 5_000, "1e999", "12:30:45", '"\\e[2J"', '"\\ud800"', "'unclosed"),
    *("@x", "? [a]", "|\n  x", "[" * 60 + "]" * 60, "[" * 3_000, "{a: " * 200, ".inf", ".nan", "\t", "# x"),
    "&l [x, x, x, x, x, x, x, x]" + "".join(f", &l{i} [*l, *l, *l, *l, *l, *l, *l]" for i in range(9)),
]
"""texts that stand in a YAML file as they are, without quotes"""


def value(random: Random) -> Any:
    """Draw a hostile value."""
    odd = [None, True, [], {}, [[]], {"": None}, {"a": {"b": [1]}}, [random.choice(TEXTS)] * 40]
    return random.choice(random.choice([NUMBERS, TEXTS, odd, [random.choice([-3, 1.5, 10**9])]]))


def nodes(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value below a tree of mappings and lists."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path for key, below in pairs for path in ((*at, key), *nodes(below, (*at, key)))]


def misspelt(random: Random, word: str) -> str:
    """Return a word with a slip of the pen in it."""
    place = random.randrange(len(word) + 1)
    return random.choice([f"{word[:place]}x{word[place:]}", word[:place] + word[place + 1 :], word.upper()])


def mutate(random: Random, tree: Any) -> Any:
    """Return a copy of a tree of values with one to three changes."""
    tree = copy.deepcopy(tree)
    for _ in range(random.choice([1, 1, 2, 3])):
        if not (paths := nodes(tree)):
            return tree
        *above, key = random.choice(paths)
        parent = tree
        for step in above:
            parent = parent[step]
        match random.choice(["replace", "replace", "near", "delete", "rename", "nest"]):
            case "replace":
                parent[key] = value(random)
            case "near":
                parent[key] = _near(random, parent[key])
            case "delete":
                del parent[key]
            case "rename" if isinstance(parent, dict):
                parent[misspelt(random, str(key))] = parent.pop(key)
            case _:
                for _ in range(random.choice([1, 3, 60])):
                    parent[key] = [parent[key]]
    return tree


def _near(random: Random, old: Any) -> Any:
    """Return a value near another one: of a different type, sign or size."""
    if isinstance(old, str):
        return random.choice([misspelt(random, old), [old], {old: old}, 7, f" {old}"])
    if isinstance(old, int | float):
        return random.choice([-old, old + 1, old * 1000, str(old), {"choice": [old]}, f"{old}x"])
    if isinstance(old, list):
        return random.choice([old * 2, old[:-1], [*old, None], old[:1] or 3])
    return random.choice([[old], str(old), {"extra": 1}])


def as_yaml(tree: Any) -> str:
    """Write a tree in YAML's flow style."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{as_yaml(key)}: {as_yaml(below)}" for key, below in tree.items()) + "}"
    if isinstance(tree, list | tuple):
        return "[" + ", ".join(map(as_yaml, tree)) + "]"
    if isinstance(tree, float) and not math.isfinite(tree):
        return ".nan" if math.isnan(tree) else ".inf" if tree > 0 else "-.inf"
    return json.dumps(tree)


def as_file(tree: dict[Any, Any]) -> str:
    """Write a mapping with a line for each of its keys."""
    return "".join(f"{as_yaml(key)}: {as_yaml(below)}\n" for key, below in tree.items())


def mangled(random: Random, content: bytes) -> bytes:
    """Return damaged bytes: flipped, cut, repeated, replaced, or something else altogether."""
    start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    flipped = bytearray(content)
    for _ in range(random.choice([1, 4, 64])):
        if flipped:
            flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    damaged = [bytes(flipped), content[:start], content[start:], content[:start] + content[end:]]
    zeros = content[:start] + bytes(end - start) + content[end:]
    return random.choice(
        [*damaged, zeros, b"", random.randbytes(1_000), b"[" * 200_000, b"\xff\xfe" + content]
    )


def mangled_lines(random: Random, text: str) -> str:
    """Return a text one of whose lines was moved, joined, indented or replaced."""
    lines = text.splitlines(keepends=True)
    place = random.randrange(len(lines))
    line, other = lines[place], random.choice(lines)
    ways = ["  " + line, "\t" + line, line.rstrip("\n"), line + line, other, "---\n" + line, ""]
    lines[place] = random.choice([*ways, *2 * [line.replace(":", f": {random.choice(YAML)} #", 1)]])
    return "".join(lines)
