"""Correct pairs pass every check; one planted mistake fails in the check it belongs to, and its place is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from migrator import parity
from migrator.facts import PairResult

from .conftest import PAIRS, Checked, silent, verdicts

FAULTS = {
    "a wrong epsilon": ("eps=1e-3", "eps=1e-5", "forward", "norm", "epsilon"),
    "padding at the start instead of the end": ("(0, 1, 0, 1)", "(1, 0, 1, 0)", "forward", "first", "padding-side"),
    "a forgotten activation": ("F.relu(self.first(x))", "self.first(x)", "forward", "first", "activation"),
    "another activation": ("F.relu(self.first(x))", "F.elu(self.first(x))", "forward", "first", "activation"),
    "a kernel transposed where it is used": (
        "x = self.second(x)",
        "x = F.conv2d(x, self.second.weight.transpose(2, 3), padding=1)",
        "forward",
        "second",
        "kernel-transposed",
    ),
    "channels first when flattened": (".permute(0, 2, 3, 1).flatten(1)", ".flatten(1)", "forward", "", "flatten-order"),
    "momentum that is its complement": ("momentum=0.01", "momentum=0.99", "state", "norm", "batchnorm-momentum"),
    "a penalty that is missing": ("def penalty(self)", "def other(self)", "gradient", "first", "missing-penalty"),
    "another initialiser": ("xavier_uniform_", "kaiming_normal_", "init", "", "initialiser"),
    "biases that do not start from zero": ("nn.init.zeros_(part.bias)", "part.bias", "init", "", "initialiser"),
    "another dropout rate": ("nn.Dropout(0.3)", "nn.Dropout(0.5)", "build", "", None),
    "a penalty with another factor": ("1e-2 *", "1e-3 *", "build", "", None),
    "a frozen layer": (
        "        self.dropout = nn.Dropout(0.3)",
        "        self.dropout = nn.Dropout(0.3)\n        self.second.weight.requires_grad_(False)",
        "build",
        "",
        None,
    ),
}
QUICK = ("a wrong epsilon", "padding at the start instead of the end", "momentum that is its complement")


@pytest.mark.parametrize("name", ["strided", pytest.param("inputs", marks=pytest.mark.proof)])
def test_a_correct_pair_passes_every_check(checked: Checked, name: str) -> None:
    result = checked(name, "")
    assert (result.verdict, result.reason) == ("pass", "")
    assert result.first_divergence is None


@pytest.mark.parametrize("name", [pytest.param("residual", marks=pytest.mark.proof), "dense"])
def test_weights_are_matched_whatever_the_names_and_the_order(checked: Checked, name: str) -> None:
    result = checked(name, "build,weights,forward,gradient,train,state")
    assert (result.verdict, result.reason) == ("pass", "")


def test_a_single_precision_constant_is_named_and_not_waved_through(checked: Checked) -> None:
    result = checked("dense", "forward")
    (forward,) = result.checks
    assert "LeakyReLU: its slope" in forward.reason
    assert forward.error is not None
    assert 1e-9 < forward.error < 1e-6


def _assert_found(result: PairResult, check: str, torch: str, cause: str | None) -> None:
    assert result.verdict == "fail"
    assert verdicts(result)[check] == "fail", verdicts(result)
    place = result.first_divergence
    assert place is not None or cause is None
    if place is not None:
        assert place["check"] == check
        assert torch in place.get("torch", "")
        assert place.get("cause") == cause
        assert cause is None or place["file"] == "twin.py"


@pytest.mark.parametrize("fault", QUICK)
def test_a_planted_mistake_fails_in_its_check_and_is_located(checked: Checked, fault: str) -> None:
    old, new, check, torch, cause = FAULTS[fault]
    _assert_found(checked("strided", f"weights,{check}", old, new), check, torch, cause)


@pytest.mark.proof
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in QUICK])
def test_any_planted_mistake_fails_in_its_check_and_is_located(checked: Checked, fault: str) -> None:
    old, new, check, torch, cause = FAULTS[fault]
    _assert_found(checked("strided", f"weights,{check}", old, new), check, torch, cause)


def test_a_known_difference_that_is_not_accepted_fails_and_is_named(recorded: Callable[[str], Path]) -> None:
    folder = recorded("strided")
    pair = replace(PAIRS["strided"], accept=())
    result = parity.check(pair, folder, parity.Options(checks=("state",)), silent)
    assert result.verdict == "fail"
    assert result.first_divergence is not None
    assert result.first_divergence["cause"] == "batchnorm-variance"


def test_an_accepted_difference_is_listed_with_its_effect(checked: Checked) -> None:
    (difference,) = checked("strided", "state").differences
    assert difference["id"] == "batchnorm-variance"
    assert difference["removed"]
    assert difference["effect"] > 1e-4


def test_a_dropped_bias_is_a_leftover_with_its_candidates(checked: Checked) -> None:
    result = checked("strided", "weights,forward", "nn.Linear(64, 3)", "nn.Linear(64, 3, bias=False)")
    assert verdicts(result) == {"weights": "fail", "forward": "skipped"}
    assert "dense/bias [3] has no counterpart" in result.checks[0].reason
