"""Kinds of models and of layers, compared ad hoc; and what a migrate.toml nearby says about an ad hoc pair."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from migrator import config, parity
from migrator.facts import Accept, Pair
from migrator.parity.checking import with_accepted

from .conftest import HERE, VARIANCE, silent

INPUTS = {
    "subclassed": "float32[6,5]",
    "bare_layer": "float32[2,4,4,2]",
    "module": "float32[6,5]",
    "function": "float32[6,5]",
    "single_precision": "float32[6,5]",
    "depthwise": "float32[3,7,7,3]",
    "recurrent": "float32[4,5,3]",
}
CHECKS = ("build", "weights", "forward", "onnx", "gradient", "train", "state")


def pair(name: str, **more: object) -> Pair:
    return Pair(name, f"source.py:{name}", f"twin.py:{name}", (INPUTS[name],), accept=VARIANCE, **more)  # type: ignore[arg-type]


@pytest.mark.proof
@pytest.mark.parametrize("name", INPUTS)
def test_a_correct_twin_passes(name: str) -> None:
    result = parity.check(pair(name), HERE / "kinds", parity.Options(checks=CHECKS, ad_hoc=True), silent)
    assert (result.verdict, result.reason) == ("pass", "")
    assert not (HERE / "kinds" / "migrate-records").exists(), "an ad hoc pair leaves no record"
    if name == "single_precision":
        assert "cannot run in float64" in next(check.reason for check in result.checks if check.id == "forward")


@pytest.mark.proof
def test_real_inputs_take_the_place_of_drawn_ones(tmp_path: Path) -> None:
    np.savez(tmp_path / "real.npz", np.full((3, 5), 0.25, np.float32))
    given = Pair("function", "source.py:function", "twin.py:function", ())
    options = parity.Options(checks=("forward",), ad_hoc=True, inputs=tmp_path / "real.npz")
    assert parity.check(given, HERE / "kinds", options, silent).verdict == "pass"


def test_an_ad_hoc_pair_takes_accepted_differences_from_the_configuration_above_it(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/net.py").write_text("")
    known = Pair("net", "old.py:build", "models/net.py:build", ("float32[2,3]",), accept=(Accept("epsilon", "meant"),))
    (tmp_path / "migrate.toml").write_text(config.dump([known]))
    asked = Pair("ad-hoc", "other.py:build", "models/net.py:build", ("float32[2,3]",))
    assert with_accepted(asked, tmp_path).accept == known.accept
    assert with_accepted(Pair("x", "o.py:b", "models/net.py:other", ("float32[1]",)), tmp_path).accept == ()
