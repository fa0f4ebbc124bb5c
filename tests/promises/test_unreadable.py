"""R17: a model that cannot do it is stopped, and the run can be resumed."""

from tests.promises.conftest import digest_of, reset


def test_a_run_behind_unreadable_replies_stops_and_goes_on_only_if_asked(
    run_of, server, scenario, tmp_path, promise
):
    reset(server, rates={"malformed_reply": 1.0})
    usual = scenario(**{"backend.unreadable": None})
    told = run_of(5, usual)
    assert "answers could not be used" in told
    assert told.count("  - ") == 3, told
    assert not (tmp_path / "run" / "digest").exists()
    run_of(5, usual)
    endless = scenario(**{"backend.unreadable": {"stop_at": 1}})
    assert "warning: " in run_of(0, endless)
    run_of(0, endless, "whole")
    assert digest_of(tmp_path / "run") == digest_of(tmp_path / "whole")
    promise("R17", "runs stopped because replies were not readable", 2)
