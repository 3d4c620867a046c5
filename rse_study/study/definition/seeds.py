"""Seeds of a study: listed ones, or as many as it takes to decide."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag

from rse_study.results.settings import UntilDecided

Seed = Annotated[int, Field(strict=True, ge=0)]


def _refuse_until(given: Any) -> Any:
    if isinstance(given, dict) and "until" in given:
        raise ValueError(
            "must be a list: only rows of a grid and confirmed trials get seeds until they are decided"
        )
    return given


Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), BeforeValidator(_refuse_until)]


def _kind_of_seeds(given: Any) -> str:
    return "until decided" if isinstance(given, dict | UntilDecided) else "listed"


ListedOrDecided = Annotated[
    Annotated[Seeds, Tag("listed")] | Annotated[UntilDecided, Tag("until decided")],
    Discriminator(_kind_of_seeds),
]
