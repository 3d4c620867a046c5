"""`doctor`: what is missing."""


def test_the_doctor_says_what_is_missing(rse):
    ended = rse("doctor")
    assert ended.code == 0
    assert "data folder" in ended.out
    assert "a cell of BERT-base takes 5.3 GB while it runs" in ended.out
    assert "is not there; set RSE_STUDY_DATA" in ended.out
