"""Names that trackers and file systems accept."""

import re

from rse_study.spec import fingerprint_of

LONGEST = 100


def accepted_name(name: str, refused: str) -> str:
    """Return a name without refused characters.

    One that had to be changed ends in six digits of its fingerprint, so that no two become one.

    Examples
    --------
    >>> accepted_name("STS-B/test/all", r"[^\\w/.-]"), accepted_name("MR, fast", r"[^\\w/.-]")
    ('STS-B/test/all', 'MR__fast-5ab58d')
    """
    plain = re.sub(refused, "_", name)[:LONGEST]
    parts = ["_" if part in ("", ".", "..") else part for part in plain.split("/")]
    plain = "/".join(parts)
    return name if plain == name else f"{plain}-{fingerprint_of(name)[:6]}"


def folder_name(name: str) -> str:
    """Return a name of a folder that every file system takes.

    Examples
    --------
    >>> folder_name("norm = linf"), folder_name("trial 3")
    ('norm = linf', 'trial 3')
    """
    return accepted_name(name, r"[^\w .=,+()-]")
