"""A folder of results, made of the real dataclasses by the real writers; names may be hostile."""

from __future__ import annotations

import math
from pathlib import Path

from migrator.facts import (
    Advice,
    Assessment,
    BenchResult,
    BenchRow,
    Call,
    Check,
    Effort,
    EffortLine,
    Environment,
    FileResult,
    Finding,
    Hazard,
    Left,
    PairResult,
    Rewritten,
    Site,
    Skipped,
    Structure,
    TrainingResult,
    TrainingRun,
    Unknown,
)


def assessment(word: str = "") -> Assessment:
    """Two calls, one hazard, one unknown use; `word` is in every text that comes from the analysed code."""
    calls = [
        Call(f"models{word}.py", 8, 4, "tf.keras.layers.Conv2D", "call", None),  # type: ignore[arg-type]
        Call(f"models{word}.py", 9, 4, f"tf.custom{word}", "call", None),  # type: ignore[arg-type]
    ]
    findings = (
        Finding(calls[0], "conv2d", "exact", 0.5, "rewritten"),
        Finding(calls[1], None, None, 30.0, f"no rule {word}"),
    )
    lines = (
        EffortLine(f"calls {word}", "rewriting", f"models{word}.py", 2, 0.4, 0.5, 1.0),
        EffortLine("set up", "project", "", 1, 1.0, 2.0, 4.0),
    )
    return Assessment(
        files=3,
        findings=findings,
        unknown=(Unknown(f"train{word}.py", 3, f"getattr(x, '{word}')", "the name is computed"),),
        structures=(Structure("functional", "models.py", 5, f"build{word}", 12),),
        effort=Effort(1.4, 2.5, 5.0, lines),
        hazards=(Hazard("unlocked-versions", "requirements.txt", 1, f"tensorflow{word} is not locked", "Lock it."),),
        environment=Environment(3, "no version is named, so Keras 3", {"tensorflow": "", f"pkg{word}": "==1"}),
        advice=Advice("pilot", {"cost": f"2.5 hours {word}", "training": "not measured"}),
        skipped=(Skipped(f"bad{word}.py", "does not parse"),),
    )


def rewritten(word: str = "") -> Rewritten:
    """One file that changes, one that does not, one construct left."""
    before = f"import tensorflow as tf\n# {word}\n--- a\nx = tf.add(1, 2)\n"
    after = f"import torch\n# {word}\n--- a\nx = torch.add(1, 2)\n"
    files = (
        FileResult(f"models{word}.py", "full", "", before, after),
        FileResult("plain.py", "unchanged", "no TensorFlow", "a = 1\n", "a = 1\n"),
    )
    left = (Left(f"models{word}.py", 9, "none", f"no rule for tf.custom{word}"),)
    sites = (Site(f"models{word}.py", 5, "functional", "build", True),)
    return Rewritten(files, sites, left, {"torch_support.py": "import torch\n"}, ())


def parity(word: str = "", verdict: str = "fail") -> list[PairResult]:
    """One pair with a check of every verdict."""
    checks = (
        Check("build", "pass", 0.0, 0.0, 0.0),
        Check("forward", "fail", 3.2e-3, 4.1e-16, 3.2e-3, f"the epsilon of {word}"),
        Check("onnx", "pass", 2e-7, 1e-7, 2e-7, "", {"edges": {"tensorflow - torch": 2e-7}}),
        Check("state", "skipped", None, None, None, "training was not asked for"),
        Check("train", "unsupported", math.inf, None, None, "draws at random"),
    )
    divergence = {"layer": f"bn{word}", "error": 3.2e-3}
    because = f"small {word}"
    difference = {
        "id": "batchnorm-variance",
        "title": "Moving variance",
        "because": because,
        "removed": True,
        "effect": 2e-5,
    }
    return [PairResult(f"net{word}", verdict, f"forward {word}", checks, divergence, (difference,))]  # type: ignore[arg-type]


def training(word: str = "") -> list[TrainingResult]:
    """Three seeds a side; one stops early."""
    runs = []
    for place, side in enumerate(("tensorflow", "torch")):
        for seed in range(3):
            epochs = 12 if seed == 2 else 20
            loss = tuple(2.3 * math.exp(-0.22 * e) + 0.03 * seed + 0.012 * place for e in range(epochs))
            held = tuple(value + 0.05 + 0.01 * math.sin(e + seed) for e, value in enumerate(loss))
            curves = {"loss": loss, "val_loss": held}
            runs.append(TrainingRun(side, seed, curves, 0.968 + 0.002 * seed + 0.001 * place))  # type: ignore[arg-type]
    return [TrainingResult(f"net{word}", "accuracy", 20, tuple(runs))]


def bench(word: str = "") -> list[BenchResult]:
    """All three variants measured."""
    rows = tuple(
        BenchRow(
            side, mode, "float32", {"median": ms, "low": ms * 0.97, "high": ms * 1.05}, 32e3 / ms, memory, "rss", start
        )  # type: ignore[arg-type]
        for side, mode, ms, memory, start in (
            ("tensorflow", "graph", 6.8, 210 << 20, 1.2),
            ("torch", "eager", 5.1, 96 << 20, 0.0),
            ("torch", "compiled", 3.4, 120 << 20, 31.0),
        )
    )
    deltas = {
        "against": "tensorflow graph",
        "speed": {
            "eager": {"median": 1.33, "low": 1.28, "high": 1.4},
            "compiled": {"median": 2.0, "low": 1.9, "high": 2.1},
        },
        "memory": {"eager": 0.46, "compiled": 0.57},
        "break_even": {"steps": {"median": 18235.0, "low": 17000.0, "high": 20000.0}, "reason": ""},
    }
    machine = {"system": "Linux", "processor": f"cpu {word}", "threads": 2, "rounds": 15}
    return [BenchResult(f"net{word}", rows, deltas, machine=machine)]


def write_all(place: Path, word: str = "") -> None:
    """Every result file of a whole run, into `place`."""
    from migrator.report import assess_json, bench_json, diff, folder, parity_json, rewrite_json, training_json

    folder.write_json(place / "assess.json", assess_json.to_json(assessment(word)))
    folder.write_json(place / "rewrite.json", rewrite_json.to_json(rewritten(word)))
    folder.write_text(place / "rewrite.diff", diff.unified(rewritten(word)))
    folder.write_json(place / "parity.json", parity_json.to_json(parity(word)))
    folder.write_json(place / "training.json", training_json.to_json(training(word)))
    folder.write_json(place / "bench.json", bench_json.to_json(bench(word)))
    folder.write_json(place / "run.json", run(word))


def run(word: str = "") -> dict[str, object]:
    """The facts that a whole run adds."""
    return {
        "schema": "migrate.run/1",
        "project": f"digits{word}",
        "started": "2026-12-01T04:05:00+00:00",
        "seconds": {"assess": 0.4, "rewrite": 0.9, "parity": 41.0, "training": 38.0, "bench": 52.0},
        "summary": [],
        "versions": {"migrate": "0.1.0", "python": "3.11.7", "torch": "2.13.0"},
        "machine": "Linux x86_64, 2 cores",
    }
