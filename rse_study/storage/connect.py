"""Connection to the place that `storage:` names."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from pyarrow import fs

from rse_study.errors import InputError
from rse_study.storage.location import FORM, absolute, check_location, is_url
from rse_study.storage.objects import ArrowObjects, FolderObjects, Objects

CONNECT_SECONDS, REQUEST_SECONDS = 5.0, 30.0
MAX_REQUESTS = 3  # per operation, by the client itself; after that `Storage` waits


def open_objects(location: str) -> Objects:
    """Open the objects at a location; raise InputError if it cannot be a storage."""
    check_location(location)
    parts = urlsplit(location)
    if not is_url(location):
        return FolderObjects(Path(unquote(parts.path) if parts.scheme else absolute(location)).resolve())
    try:
        if parts.scheme == "s3":
            return ArrowObjects(_s3(dict(parse_qsl(parts.query))), f"{parts.netloc}{unquote(parts.path)}")
        return ArrowObjects(*fs.FileSystem.from_uri(location))
    except (OSError, ValueError, ImportError) as error:
        raise InputError(str(error).split("\n")[0], where=f"storage {location}", rule=f"is {FORM}") from None


def _s3(options: Mapping[str, str]) -> fs.S3FileSystem:
    endpoint = options.get("endpoint_override", "")
    scheme, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(
        endpoint_override=host or None,
        scheme=scheme or options.get("scheme", "https"),
        region=options.get("region"),
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=MAX_REQUESTS),
    )
