"""Several Ray nodes on this machine, for trying a cluster without having one."""

from typing import Annotated, Literal

from pydantic import Field

from rse_study.cluster.spec import ClusterSpec
from rse_study.spec import field

Port = Annotated[int, Field(ge=1024, le=65535)]


class LocalCluster(ClusterSpec):
    """A head and several workers, all on this machine."""

    kind: Literal["local"]
    port: Port = 6379
    """of the head"""
    dashboard_port: Port = 8265
    """where jobs are submitted"""
    token: str = field("~/.ray/auth_token", min_length=1)
    """file that holds the token; made where it is missing"""
    folder: str = ""
    """of Ray's own files; a short path, for sockets stand below it. Empty: one in /tmp that ends with the cluster"""
