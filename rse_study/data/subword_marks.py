"""How a vocabulary marks words: by what begins one, or by what goes on with it."""

from collections.abc import Collection

PIECE = "##"  # WordPiece marks what continues a word
MARKS = ("\u0120", "\u2581")  # byte-level BPE and SentencePiece mark what begins one


def marks_beginnings(tokens: Collection[str]) -> bool:
    """Whether words begin with a mark.

    Either sign may stand in the other kind's vocabulary as a character.
    """
    return sum(token.startswith(MARKS) for token in tokens) > sum(token.startswith(PIECE) for token in tokens)
