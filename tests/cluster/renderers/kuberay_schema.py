"""Where the schema of KubeRay's RayJob is, on machines that have the data."""

import os
from pathlib import Path

import pytest

from tests import needs

SCHEMA = Path(os.environ.get("RSE_STUDY_DATA") or "absent") / "kuberay" / "rayjob-v1-schema.json.gz"
needs_schema = pytest.mark.skipif(
    not SCHEMA.is_file(), reason=needs.reason_without_data("kuberay/rayjob-v1-schema.json.gz")
)
