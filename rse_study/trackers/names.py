"""Names that trackers and file systems accept."""

import re

from rse_study.spec import fingerprint_of

LONGEST = 100


def accepted_name(name: str, refused: str) -> str:
    r"""Replace refused characters in a name.

    A changed name ends in six digits of its fingerprint, so that names stay distinct.

    >>> accepted_name("STS-B/test/all", r"[^\w/.-]"), accepted_name("MR, fast", r"[^\w/.-]")
    ('STS-B/test/all', 'MR__fast-5ab58d')
    """
    plain = re.sub(refused, "_", name)[:LONGEST]
    parts = ["_" if part in ("", ".", "..") else part for part in plain.split("/")]
    plain = "/".join(parts)
    return name if plain == name else f"{plain}-{fingerprint_of(name)[:6]}"


def folder_name(name: str) -> str:
    """Make a name for a folder that every file system accepts.

    >>> folder_name("norm = linf"), folder_name("trial 3")
    ('norm = linf', 'trial 3')
    """
    return accepted_name(name, r"[^\w .=,+()-]")
