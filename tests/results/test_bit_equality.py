"""What is promised of a number that was computed twice, from two provenances."""

import pytest

from rse_study.results.bit_equality import (
    UNLIKE,
    describe_machines,
    what_decides,
    what_differs,
)

ONE = {
    "kernels": "AVX2", "processor": "EPYC", "settings": "none", "device_type": "cpu", "device": "x86_64",
    "precision": "float32", "workers": 1, "threads": 1, "python": "3.11.7", "similarity_digits": 12,
    "packages": {"torch": "2.13", "numpy": "2.4"}, "libraries": {"MKL of torch": "2024.2"},
    "materials": {"corpus": "a"}, "work": 1.0, UNLIKE: [],
}  # fmt: skip
EARLIER = {key: ONE[key] for key in ("python", "packages", "device", "device_type", "workers", "threads")}


def test_bits_are_promised_where_nothing_that_decides_them_differs_and_all_of_it_is_said():
    assert what_differs(ONE, ONE) == ()
    assert what_differs(ONE, ONE | {"materials": {}, "work": 2.0, "gpus": 0}) == ()
    assert what_decides(ONE) == what_decides(ONE | {"materials": {}})
    lacking = "CPU kernels, processor, library settings, precision, decimals of ranked cosines, MKL of torch"
    assert what_differs(ONE, EARLIER) == (f"not on record there: {lacking}",)
    assert len(what_differs(EARLIER, EARLIER)) == 2, "neither of them says"
    assert what_differs({}, {})


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"kernels": "AVX512"}, "other CPU kernels: AVX2 here, AVX512 there"),
        ({"processor": "Xeon"}, "other processor: EPYC here, Xeon there"),
        ({"settings": "MKL_CBWR=AUTO"}, "other library settings: none here, MKL_CBWR=AUTO there"),
        ({"device": "NVIDIA H200"}, "other device: x86_64 here, NVIDIA H200 there"),
        ({"workers": 2}, "other number of workers: 1 here, 2 there"),
        ({"threads": 2}, "other number of threads: 1 here, 2 there"),
        ({"packages": {"torch": "2.12", "numpy": "2.4"}}, "other torch: 2.13 here, 2.12 there"),
        ({"libraries": {"MKL of torch": "2023"}}, "other MKL of torch: 2024.2 here, 2023 there"),
        ({"device": None}, "not on record there: device"),
        ({"similarity_digits": None}, "not on record there: decimals of ranked cosines"),
        ({UNLIKE: ["why"]}, "more than one kind of machine there (why)"),
    ],
)
def test_what_differs_is_named(there, said):
    assert what_differs(ONE, ONE | there) == (said,)
    swapped = what_differs(ONE | there, ONE)
    assert len(swapped) == 1
    assert "here" in swapped[0]


def test_a_mixture_is_said_with_how_many_ran_where_and_one_kind_of_machine_not():
    card = ONE | {"device_type": "cuda", "device": "NVIDIA H200", "settings": "MKL_CBWR=AUTO"}
    assert describe_machines([ONE, card, ONE, ONE | {"kernels": "AVX512"}, EARLIER]) == (
        "Cells ran on different kinds of machine, which need not agree bit by bit: 1 on NVIDIA H200, EPYC, AVX2 "
        "kernels, MKL_CBWR=AUTO; 2 on x86_64, EPYC, AVX2 kernels; 1 on x86_64, EPYC, AVX512 kernels."
    )
    assert "1 on what changed within the cell" in describe_machines([ONE | {UNLIKE: ["why"]}])
    assert describe_machines([ONE, ONE | {"threads": 2, "packages": {"torch": "1"}}, EARLIER, {}]) == ""
    assert describe_machines([]) == ""
