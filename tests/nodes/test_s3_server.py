"""The S3 server of the tests: what a client of pyarrow sees of it, also while it is gone."""

import time

import pytest

from tests.nodes.namespaces import Nodes, needs_nodes
from tests.nodes.s3_server import ACCESS, S3Server

pytestmark = needs_nodes

CLIENT = """
import sys
from pyarrow import fs
s3 = fs.S3FileSystem(endpoint_override="10.77.0.2:9000", scheme="http", region="us-east-1", connect_timeout=1,
                     request_timeout=1, retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1))
if sys.argv[1] == "write":
    with s3.open_output_stream("studies/a/b") as stream:
        stream.write(b"whole")
print(s3.open_input_file("studies/a/b").read().decode())
"""


@pytest.fixture(scope="module")
def nodes():
    with Nodes(2, env=ACCESS) as two:
        yield two


@pytest.fixture(scope="module")
def server(nodes):
    return S3Server(nodes[1])


def ask(nodes, verb: str) -> str:
    return nodes[0].run(["python", "-c", CLIENT, verb], check=False).stdout.strip().split("\n")[-1]


def test_what_is_written_is_read_from_another_process(nodes, server):
    assert ask(nodes, "write") == "whole"
    assert ask(nodes, "read") == "whole"


@pytest.mark.parametrize("absence", ["refused", "silent", "unplugged"])
def test_it_is_gone_and_comes_back_with_its_objects(nodes, server, absence):
    assert ask(nodes, "write") == "whole"
    server.pause(absence)
    assert "Error" in ask(nodes, "read")
    server.resume()
    deadline = time.monotonic() + 20
    while (said := ask(nodes, "read")) != "whole":
        assert time.monotonic() < deadline, said
