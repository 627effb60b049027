"""A tiny hand-written pair measured in both real frameworks: what comes out is complete and adds up. Never how fast."""

import pytest

from migrator.bench.measure import MODES, Options, bench
from migrator.errors import ExitCode, MigrateError
from migrator.facts import Named, Pair
from migrator.report.bench_json import to_json

TENSORFLOW = """
from tensorflow import keras

def build():
    print("building")
    rule = keras.regularizers.l2(1e-3)
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu", kernel_regularizer=rule),
                             keras.layers.Dense(3, "softmax")])

def broken():
    raise RuntimeError("no weights here")
"""
PYTORCH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.out(torch.relu(self.hidden(x))), -1)

    def penalty(self):
        return 1e-3 * self.hidden.weight.square().sum()

def build():
    return Net()

def broken():
    raise RuntimeError("no weights here")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("pair")
    (place / "legacy.py").write_text(TENSORFLOW)
    (place / "models.py").write_text(PYTORCH)
    return place


def pair(tensorflow="legacy.py:build", torch="models.py:build", **more):
    loss, optimizer = Named("SparseCategoricalCrossentropy"), Named("Adam", {"learning_rate": 1e-2})
    given = {"loss": loss, "optimizer": optimizer, "target": "int64[batch]:int(0,3)", **more}
    return Pair("tiny", tensorflow, torch, ("float32[batch,6]",), batch=4, **given)


def options(*modes, **more):
    return Options(modes=modes, rounds=3, seconds=0.01, threads=1, device="cpu", **more)


@pytest.fixture(scope="module")
def measured(folder):
    said = []
    return bench(pair(), folder, options("graph", "eager"), said.append), said


def test_both_sides_have_a_row_with_figures_that_fit_together(measured):
    result, _ = measured
    assert [(row.side, row.mode) for row in result.rows] == [("tensorflow", "graph"), ("torch", "eager")]
    for row in result.rows:
        step = row.step_ms
        assert 0 < step["low"] <= step["median"] <= step["high"]
        assert row.samples_per_second == pytest.approx(4 / (step["median"] / 1e3))
        assert (row.memory_kind, row.precision) == ("rss", "float32")
        assert row.memory_bytes >= 0


def test_only_what_compiles_has_compile_seconds(measured):
    graph, eager = measured[0].rows
    assert graph.compile_seconds > 0
    assert eager.compile_seconds == 0


def test_the_delta_is_the_ratio_of_the_two_medians(measured):
    result, _ = measured
    graph, eager = result.rows
    speed = result.deltas["speed"]["eager"]
    assert speed["median"] == pytest.approx(graph.step_ms["median"] / eager.step_ms["median"])
    assert speed["low"] <= speed["median"] <= speed["high"]
    assert result.deltas["break_even"]["steps"] is None


def test_the_result_says_where_and_how_it_was_measured(measured):
    machine = measured[0].machine
    assert (machine["threads"], machine["rounds"]) == (1, 3)
    assert machine["tensorflow graph"]["device"] == machine["torch eager"]["device"] == "cpu"
    assert machine["tensorflow graph"]["tensorflow"]
    assert machine["torch eager"]["torch"]


def test_progress_names_each_variant_and_each_round(measured):
    _, said = measured
    assert [text for text in said if "starting" in text] == [
        "bench tiny: starting tensorflow graph",
        "bench tiny: starting torch eager",
    ]
    assert [text for text in said if "round" in text] == [f"bench tiny: round {n} of 3" for n in (1, 2, 3)]


def test_json_carries_the_keys_of_the_contract(measured):
    value = to_json([measured[0]])
    assert value["schema"] == "migrate.bench/1"
    assert {"rows", "deltas"} <= set(value["pairs"][0])
    wanted = {"side", "mode", "precision", "step_ms", "samples_per_second", "memory_bytes", "memory_kind"}
    assert wanted | {"compile_seconds", "data_wait_share"} <= set(value["pairs"][0]["rows"][0])


def test_a_side_that_fails_leaves_the_others_figures_and_its_own_reason(folder):
    result = bench(pair(tensorflow="legacy.py:broken"), folder, options("graph", "eager"), lambda text: None)
    assert [row.side for row in result.rows] == ["torch"]
    assert result.deltas == {}
    assert "RuntimeError: no weights here" in result.missing["tensorflow graph"]
    assert "legacy.py, line 11" in result.missing["tensorflow graph"]


def test_a_pair_of_which_nothing_runs_is_an_error(folder):
    with pytest.raises(MigrateError, match="no variant of tiny could be measured") as caught:
        bench(pair(torch="models.py:broken"), folder, options("eager"), lambda text: None)
    assert caught.value.code == ExitCode.WORK


def test_without_a_compiler_compiled_is_not_available_and_the_reason_is_told(folder, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    result = bench(pair(), folder, options("eager", "compiled"), lambda text: None)
    assert [row.mode for row in result.rows] == ["eager"]
    assert "needs a C++ compiler" in result.missing["torch compiled"]


def test_a_gpu_that_is_not_there_is_never_assumed(folder, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(MigrateError, match="PyTorch finds no GPU here"):
        bench(pair(), folder, Options(modes=("eager",), device="cuda"), lambda text: None)


def test_an_optimizer_argument_that_is_not_known_is_named_and_not_dropped(folder):
    odd = pair(optimizer=Named("Adam", {"global_clipnorm": 1.0}))
    with pytest.raises(MigrateError, match="global_clipnorm"):
        bench(odd, folder, options("eager"), lambda text: None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"modes": ("xla2",)}, "xla2"),
        ({"modes": ()}, "none given"),
        ({"rounds": 0}, "round"),
        ({"device": "tpu"}, "tpu"),
    ],
    ids=["an unknown mode", "no mode", "no rounds", "an unknown device"],
)
def test_wrong_options_are_refused(given, words):
    with pytest.raises(MigrateError, match=words):
        Options(**given)


@pytest.mark.proof
def test_compiled_pytorch_runs_too_and_compiling_is_told_apart(folder):
    result = bench(pair(), folder, options(*MODES), lambda text: None)
    assert result.missing == {}
    assert [row.mode for row in result.rows] == ["graph", "eager", "compiled"]
    compiled = result.rows[-1]
    assert compiled.compile_seconds > compiled.step_ms["median"] / 1e3
    assert set(result.deltas["speed"]) == set(result.deltas["memory"]) == {"eager", "compiled"}
