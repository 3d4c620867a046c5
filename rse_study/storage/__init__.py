"""The `storage:` of a study, shared by all nodes: a folder that all see, or a URL."""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from rse_study.errors import InputError
from rse_study.registry import did_you_mean

SCHEMES = ("s3", "gs", "abfs", "hdfs", "file")
S3_OPTIONS = ("endpoint_override", "scheme", "region")
SECRETS = ("key", "secret", "token", "password", "sas", "sig")
"""substrings in the names of options that hold a secret"""
FORM = "a folder, or a URL such as s3://bucket/prefix or gs://bucket/prefix"


def check_location(location: str) -> None:
    """Raise InputError for unusable locations, or secrets, which ledgers would show."""
    if "://" not in location:
        return
    parts = urlsplit(location)
    if parts.scheme not in SCHEMES:
        remedy = did_you_mean(parts.scheme, SCHEMES)
        raise InputError(f"{parts.scheme}://", where="storage", rule=f"must be {FORM}", remedy=remedy)
    if secret := secret_in(location):
        rule = "holds no secrets: it stands in ledgers, logs and rendered files"
        remedy = "Give them to the processes: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the nodes' role"
        raise InputError(secret, where="storage", rule=rule, remedy=remedy)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = next((name for name in options if parts.scheme == "s3" and name not in S3_OPTIONS), "")
    if unknown:
        rule = f"options of s3:// are {', '.join(S3_OPTIONS)}"
        remedy = did_you_mean(unknown, S3_OPTIONS)
        raise InputError(f"{unknown}=", where="storage", rule=rule, remedy=remedy)
    if not parts.netloc and parts.scheme != "file":
        raise InputError(location, where="storage", rule=f"must be {FORM}", remedy="Name the bucket")


def secret_in(location: str) -> str:
    """Name the secret in a URL without disclosing it; empty if there is none.

    >>> secret_in("s3://bucket/x?secret_key=abc"), secret_in("s3://bucket/x")
    ('secret_key=...', '')
    """
    parts = urlsplit(location)
    if "@" in parts.netloc:
        return "a user name or a key before @"
    options = parse_qsl(parts.query, keep_blank_values=True)
    if named := next((name for name, _ in options if any(part in name.lower() for part in SECRETS)), ""):
        return f"{named}=..."
    # No region, scheme or address of a server has an @ but after a user and a password.
    return next((f"a user name or a key before @ in {name}=" for name, value in options if "@" in value), "")


def is_url(location: str) -> bool:
    """Whether the location uses a network protocol and is not a folder."""
    return "://" in location and not location.startswith("file://")


def absolute(location: str) -> str:
    """Return the location in a form that does not depend on the working folder."""
    return location if "://" in location else str(Path(location).expanduser().resolve())
