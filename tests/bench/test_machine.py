"""What is said about the machine."""

import pytest

from migrator.bench import machine
from migrator.bench.machine import Meter, available_threads, described


def test_a_processor_and_a_system_are_named():
    assert all(described().values())


def test_there_is_at_least_one_thread():
    assert available_threads() >= 1


@pytest.mark.parametrize(
    ("cores", "ours", "share"),
    [
        ([(100.0, 400.0), (120.0, 420.0)], [5.0, 25.0], 0.0),
        ([(100.0, 400.0), (120.0, 420.0)], [5.0, 15.0], 0.5),
        ([(100.0, 400.0), (110.0, 420.0)], [5.0, 5.0], 0.5),
        ([None, None], [5.0, 6.0], None),
    ],
    ids=["all of it was ours", "half of it was ours", "none of it was ours", "the system does not tell"],
)
def test_what_others_took_is_what_was_busy_without_ours(monkeypatch, cores, ours, share):
    seen, spent = iter(cores), iter(ours)
    monkeypatch.setattr(machine, "_all_cores", lambda: next(seen))
    monkeypatch.setattr(machine, "_ours", lambda: next(spent))
    assert Meter().others() == share
