"""Detection of how a vocabulary marks words: at their beginning or continuation."""

from collections.abc import Collection

PIECE = "##"  # WordPiece marks continuations
MARKS = ("\u0120", "\u2581")  # byte-level BPE and SentencePiece mark beginnings


def marks_beginnings(tokens: Collection[str]) -> bool:
    """Whether more tokens bear a mark of beginnings than of continuations."""
    return sum(token.startswith(MARKS) for token in tokens) > sum(token.startswith(PIECE) for token in tokens)
