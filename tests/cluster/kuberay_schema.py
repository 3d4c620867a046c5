"""Where the schema of KubeRay's RayJob is, on machines that have the data."""

import os
from pathlib import Path

import pytest

SCHEMA = Path(os.environ.get("RSE_STUDY_DATA") or "absent") / "kuberay" / "rayjob-v1-schema.json.gz"
needs_schema = pytest.mark.skipif(
    not SCHEMA.is_file(), reason="RSE_STUDY_DATA has no kuberay/rayjob-v1-schema.json.gz"
)
