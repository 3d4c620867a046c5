from analysis.figures.lines import positions, scale_of, tick_angle, x_axis
from tests.cases import cases


@cases(
    ("values", "scale"),
    [
        ([0.1, 0.2, 0.3, 0.9], "linear"),
        (list(range(1, 17)), "linear"),
        ([1, 2, 4, 16], "log"),
        ([1 / 1024, 1 / 128, 1 / 16], "log"),
        ([-1, 0, 1], "linear"),
        ([3.0], "linear"),
        ([1 / 1024, 1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16], "log"),
        ([1, 100], "log"),
        ([0, 1 / 1024, 1 / 128, 1 / 16], "category"),
        ([0, 1e-3, 1], "category"),
        ([0, 0.5, 1], "linear"),
        ([-1e-3, 1e-3, 1], "category"),
    ],
)
def test_the_scale_keeps_values_apart(values, scale):
    assert scale_of(values) == scale
    assert scale_of(values[::-1] + values) == scale


def test_values_that_look_alike_are_two_categories_and_texts_that_do_not_fit_stand_upright():
    values = [0.0, 0.00976562, 0.00976563, 9.0]
    axis = x_axis(values, "category")
    assert axis["categoryarray"] == positions(values, "category")
    assert len(set(axis["categoryarray"])) == 4
    assert axis["ticktext"] == ["0", "0.00977", "0.00977", "9"]
    assert scale_of([1, 2, 3], is_log=True) == "log"
    assert scale_of([0, 1, 2], is_log=True) == "category"
    assert tick_angle(["0.1", "0.2", "0.3"]) == 0
    assert tick_angle(["0.000977", "0.00391", "0.00781", "0.0312"], [-10, -8, -7, -5]) == 90
    assert tick_angle(["one"]) == 0
    assert x_axis([0, 0.02, 0.05, 0.1, 0.2, 0.3], "linear")["tickangle"] == 90
    assert x_axis([1, 3, 5], "log")["tickangle"] == 0
