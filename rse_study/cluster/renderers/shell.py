"""Shell text from lines and commands."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

WIDTH = 110


def script(*blocks: Iterable[str]) -> str:
    """Join blocks of lines, with a blank line between them."""
    texts = ["\n".join(block) for block in blocks]
    return "\n\n".join(text for text in texts if text) + "\n"


def folded(words: Sequence[str], indent: str = "") -> list[str]:
    """Break a command, already quoted, into lines of bounded width."""
    lines, line = [], indent
    for word in words:
        if line.strip() and len(line) + len(word) > WIDTH:
            lines.append(f"{line}\\")
            line = f"{indent}    "
        line += f"{word} "
    return [*lines, line.rstrip()]


def assignments(variables: Mapping[str, str]) -> str:
    """Return variables in the form `env` takes before a command."""
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
