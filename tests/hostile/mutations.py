"""Mutations of texts, bytes and trees of values, drawn from one random generator."""

import copy
import json
import math
from random import Random
from typing import Any


class Raw(str):
    """A text that stands in the YAML file as it is, without quotes."""


NUMBERS = [
    *(0, -1, 1, 2, 3, 7, 0.5, -0.5, 1e-320, 1e30, -1e308, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1),
    *(10**320, math.nan, math.inf, -math.inf, 1.0000000001, 100_001, 16.0),
]
TEXTS = [
    *("", " ", "\n", "a\nb", "\x00", "\x1b[2J", "\u202e", "\ud800", "null", "none", "true", "off", "1/0", "1/128"),
    *("1/1/1", "nan", "../../etc/passwd", "/dev/zero", "/dev/urandom", "/proc/self/mem", "~", "C:\\x", "$HOME"),
    *("`id`", "$(id)", "; rm -rf .", "' OR 1=1 --", '"', "{}", "{0}", "{x!r}", "%s", "%(x)s", "<script>", "a" * 70),
    *("x" * 5_000, "\u0130", "\u00e9" * 300, "module:Class", "os:system", "builtin/test", "dev", "STS-B/test", ":"),
    *("file:///etc/passwd", "http://user:password@host/x", "s3://bucket", "hub/" * 30, ".", "..", "a/b/c", "-", "--"),
]  # fmt: skip
YAML_TEXTS = [
    *(
        "!!int abc",
        "!!float abc",
        "!!bool maybe",
        "!!timestamp x",
        "!!binary '%'",
        "!!set {a, b}",
        "!!omap [a: 1]",
    ),
    *(
        "!!python/object:os.system x",
        "!tag x",
        "&a [*a]",
        "&b {c: *b}",
        "*nothing",
        "<<: x",
        "{<<: 5}",
        "[",
        "{",
    ),
    *(
        "2026-99-99",
        "2026-11-01T25:00:00",
        "0x" + "f" * 40,
        "0o777",
        "9" * 5_000,
        "1e999",
        "1_000",
        "12:30:45",
    ),
    *(
        '"\\e[2J"',
        '"\\ud800"',
        '"\\UFFFFFFFF"',
        "'unclosed",
        "@x",
        "`x`",
        "%x",
        "? [a]",
        "- - - a",
        "|\n  x",
        ">-",
    ),
    *("[" * 60 + "]" * 60, "[" * 3_000, "{a: " * 200, ".inf", "-.inf", ".nan", "~", "!!null x", "\t", "# x"),
    "&l [x, x, x, x, x, x, x, x]" + "".join(f", &l{i} [*l, *l, *l, *l, *l, *l, *l]" for i in range(9)),
]


def value(random: Random) -> Any:
    """Draw a hostile value."""
    number = [-3, 0, 1, 2, 5, 1.5, 1e-3, 10**9]
    return random.choice(
        [
            lambda: random.choice(NUMBERS),
            lambda: random.choice(NUMBERS),
            lambda: random.choice(TEXTS),
            lambda: random.choice(TEXTS),
            lambda: random.choice([None, True, False, [], {}, [[]], [None], {"": None}, {"a": {"b": [1]}}]),
            lambda: [random.choice([*NUMBERS, *TEXTS]) for _ in range(random.choice([1, 2, 3, 40]))],
            lambda: {random.choice(TEXTS): random.choice(NUMBERS), random.choice("abc"): random.choice(TEXTS)},
            lambda: [random.choice(number)] * random.choice([1, 2, 3, 1_000]),
            lambda: Raw(random.choice(YAML_TEXTS)),
        ]
    )()  # fmt: skip


def nodes(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value below a tree of mappings and lists."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path for key, below in pairs for path in ((*at, key), *nodes(below, (*at, key)))]


def look_up(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Any, path: tuple[Any, ...], new: Any) -> None:
    look_up(tree, path[:-1])[path[-1]] = new


def misspelt(random: Random, word: str) -> str:
    """Return a word with a slip of the pen in it."""
    place = random.randrange(len(word) + 1)
    letters = random.choice("eatx_. -A0\u00e9")
    return random.choice(
        [
            word[:place] + letters + word[place:],
            word[:place] + word[place + 1 :],
            word.upper(),
            word.replace("_", "-"),
            word + "s",
            f"{word}.{word}",
        ]
    )


def _bent(random: Random, old: Any) -> Any:
    """Return a value near another one: of a different type, sign or size."""
    if isinstance(old, bool) or old is None:
        return random.choice([str(old), int(bool(old)), [old]])
    if isinstance(old, int | float):
        return random.choice(
            [-old, old + 1, old * 1000, old / 3, str(old), [old], {"choice": [old]}, f"{old}x"]
        )
    if isinstance(old, str):
        return random.choice([misspelt(random, old), [old], {old: old}, 7, f"{old}/{old}", f" {old}"])
    if isinstance(old, list):
        return random.choice(
            [old * 2, old[:-1], [*old, *old, None], dict.fromkeys(map(str, old)), old[:1] or 3]
        )
    return random.choice([list(old), list(old.values()), [old], str(list(old)), {**old, "extra": 1}])


def mutate(random: Random, tree: Any, pool: list[Any] = ()) -> Any:  # type: ignore[assignment]
    """Return a copy of a tree of values with one to three changes; `pool` has trees to borrow from."""
    tree = copy.deepcopy(tree)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        paths = nodes(tree)
        if not paths:
            return tree
        path = random.choice(paths)
        parent, key, old = look_up(tree, path[:-1]), path[-1], look_up(tree, path)
        kind = random.randrange(10)
        if kind < 3:
            parent[key] = value(random)
        elif kind < 5:
            parent[key] = _bent(random, old)
        elif kind == 5:
            del parent[key]
        elif kind == 6 and isinstance(parent, dict):
            name = misspelt(random, str(key)) if random.random() < 0.8 else random.choice([*TEXTS, 3, None])
            parent[name] = parent.pop(key) if random.random() < 0.7 else old
        elif kind == 7 and pool:
            lender = random.choice(pool)
            lent = random.choice(nodes(lender) or [()])
            if lent:
                name = lent[-1] if isinstance(parent, dict) and random.random() < 0.7 else key
                if isinstance(parent, dict) or isinstance(name, int):
                    parent[key if isinstance(parent, list) else name] = copy.deepcopy(look_up(lender, lent))
        elif kind == 8:
            other = random.choice(paths)
            if path[: len(other)] != other and other[: len(path)] != path:
                there = look_up(tree, other)
                put(tree, other, old)
                parent[key] = there
        else:
            for _ in range(random.choice([1, 3, 60])):
                old = [old] if random.random() < 0.5 else {str(key): old}
            parent[key] = old
    return tree


def as_yaml(tree: Any) -> str:
    """Write a tree in YAML's flow style; a Raw text stands as it is."""
    if isinstance(tree, Raw):
        return str(tree)
    if isinstance(tree, dict):
        inner = (f"{'~' if key is None else as_yaml(key)}: {as_yaml(below)}" for key, below in tree.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(tree, list | tuple):
        return "[" + ", ".join(map(as_yaml, tree)) + "]"
    if isinstance(tree, float) and not math.isfinite(tree):
        return ".nan" if math.isnan(tree) else ".inf" if tree > 0 else "-.inf"
    return json.dumps(tree)


def as_file(tree: dict[Any, Any]) -> str:
    """Write a mapping with a line for each of its keys."""
    return "".join(
        f"{'~' if key is None else as_yaml(key)}: {as_yaml(below)}\n" for key, below in tree.items()
    )


def as_json(tree: Any) -> str:
    """Write a tree as Python's JSON, with NaN and infinities."""
    return json.dumps(tree, default=str)


def mangled(random: Random, content: bytes) -> bytes:
    """Return damaged bytes: flipped, cut, repeated, replaced, or something else altogether."""
    length = len(content)
    start, end = sorted(random.randrange(length + 1) for _ in range(2))
    block = bytearray(content)
    for _ in range(random.choice([1, 1, 4, 64])):
        if block:
            block[random.randrange(length)] ^= 1 << random.randrange(8)
    return random.choice(
        [
            bytes(block),
            bytes(block),
            content[:start],
            content[start:],
            content[:start] + content[end:],
            content[:start] + bytes(end - start) + content[end:],
            content[:start] + random.randbytes(end - start) + content[end:],
            content[:end] + content[start:],
            b"",
            random.randbytes(1_000),
            b"{" * 50_000,
            b"[" * 200_000,
            b"\xff\xfe" + content,
            content.replace(b"0", b"9", 3),
            content.replace(b":", b"", 1),
        ]
    )


def mangled_lines(random: Random, text: str) -> str:
    """Return a text whose lines were moved, joined, indented or replaced."""
    lines = text.splitlines(keepends=True)
    for _ in range(random.choice([1, 1, 2, 4])):
        place, other = (random.randrange(len(lines)) for _ in range(2))
        line = lines[place]
        lines[place] = random.choice(
            [
                "  " + line,
                "\t" + line,
                line.lstrip(),
                line.rstrip("\n"),
                line + line,
                lines[other],
                line.replace(":", " ", 1),
                line.replace(":", f": {random.choice(YAML_TEXTS)} #", 1),
                line.replace(":", f": {random.choice(YAML_TEXTS)} #", 1),
                "---\n" + line,
                "%YAML 1.1\n---\n" + line,
                line.replace(" ", "\u00a0"),
                f"{random.choice(TEXTS)}: {random.choice(YAML_TEXTS)}\n",
                "",
            ]
        )
    return "".join(lines)
