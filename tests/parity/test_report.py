"""Parity results as JSON and as text."""

import json

from migrator.facts import Check, PairResult
from migrator.report import parity_json, parity_text

RESULT = PairResult(
    "net",
    "fail",
    "forward: off",
    (
        Check("build", "pass"),
        Check("forward", "fail", 0.0032, 1.2e-7, 0.0032, "off", {"inference": float("inf")}),
        Check("train", "fail", float("nan")),
    ),
    {"layer": "bn", "file": "models.py", "line": 3},
    ({"id": "batchnorm-variance", "because": "small", "effect": 0.001},),
)


def test_json_has_the_keys_of_the_contract_and_only_finite_numbers() -> None:
    made = parity_json.to_json([RESULT])
    json.dumps(made, allow_nan=False)
    assert made["schema"] == "migrate.parity/1"
    pair = made["pairs"][0]
    assert set(pair) == {"name", "verdict", "reason", "checks", "first_divergence", "differences"}
    assert {"id", "verdict", "error", "floor", "needed"} <= set(pair["checks"][0])


def test_a_figure_that_is_not_finite_is_null_with_a_reason() -> None:
    check = parity_json.to_json([RESULT])["pairs"][0]["checks"][2]
    assert check["error"] is None
    assert check["reason"] == "not finite"


def test_text_names_verdicts_place_and_what_was_accepted() -> None:
    text = parity_text.to_text([RESULT])
    assert "forward   fail           0.0032  1.2e-07   0.0032  off" in text
    assert "file: models.py" in text
    assert "batchnorm-variance, small (it changes trained state by 0.001)" in text


def test_a_pair_that_could_not_run_shows_its_reason_line_by_line() -> None:
    text = parity_text.to_text([PairResult("net", "error", "The side failed\nlast line", ())])
    assert text.splitlines() == ["net: error", "  The side failed", "  last line"]
