"""The S3 server of the tests: what a client of pyarrow sees of it, also while it is gone."""

import time

import pytest

from tests.nodes.namespaces import Nodes, needs_nodes
from tests.nodes.s3_server import ACCESS, S3Server

pytestmark = [needs_nodes, pytest.mark.xdist_group("nodes")]  # names that one gives back the other takes

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


def test_what_is_written_is_read_from_another_process_but_while_it_is_gone():
    with Nodes(2, env=ACCESS) as nodes:
        server = S3Server(nodes[1])

        def ask(verb: str) -> str:
            return nodes[0].run(["python", "-c", CLIENT, verb], check=False).stdout.strip().split("\n")[-1]

        assert ask("write") == ask("read") == "whole"
        server.pause()
        assert "Error" in ask("read")
        server.resume()
        deadline = time.monotonic() + 20
        while (said := ask("read")) != "whole":
            assert time.monotonic() < deadline, said
