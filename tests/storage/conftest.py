from collections.abc import Iterator

import pytest

from rse_study.storage.storage import Storage
from tests.storage.s3 import S3Server, in_environment, s3_server


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def keys() -> Iterator[None]:
    yield from in_environment()


@pytest.fixture(params=["folder", "s3"])
def storage(request, tmp_path) -> Storage:
    """One of each kind, empty."""
    if request.param == "folder":
        location = str(tmp_path / "shared disk")
    else:
        location = request.getfixturevalue("s3").location(tmp_path.name)
    made = Storage(location, patience_s=0.0)
    made.require()
    return made
