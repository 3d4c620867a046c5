"""Shell text: lines joined, commands folded."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

WIDTH = 110


def script(*blocks: Iterable[str]) -> str:
    """Return blocks of lines as one text, a blank line between them."""
    texts = ["\n".join(block) for block in blocks]
    return "\n\n".join(text for text in texts if text) + "\n"


def folded(words: Sequence[str], indent: str = "") -> list[str]:
    """Return a command as lines of bounded width; the words are quoted already."""
    lines, line = [], indent
    for word in words:
        if line.strip() and len(line) + len(word) > WIDTH:
            lines.append(f"{line}\\")
            line = f"{indent}    "
        line += f"{word} "
    return [*lines, line.rstrip()]


def quoted(command: Sequence[str]) -> str:
    """Return a command as a shell reads it back."""
    return shlex.join(command)


def assignments(variables: Mapping[str, str]) -> str:
    """Return variables as `env` takes them, before a command."""
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
