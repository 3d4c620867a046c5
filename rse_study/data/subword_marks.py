"""Detection of how a vocabulary marks words: at their beginning or continuation."""

from collections.abc import Collection

PIECE = "##"  # WordPiece marks continuations
MARKS = ("\u0120", "\u2581")  # byte-level BPE and SentencePiece mark beginnings


def marks_beginnings(tokens: Collection[str]) -> bool:
    """Whether tokens that begin a word are marked.

    Compares counts, since either mark may occur in the other kind of vocabulary as a character.
    """
    return sum(token.startswith(MARKS) for token in tokens) > sum(token.startswith(PIECE) for token in tokens)
