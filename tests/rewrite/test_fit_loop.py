"""Training code: what is left alone and why, then both sides run on the same data."""

import ast
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest

from migrator.facts import Accept, Definition, Named, Pair, Training
from migrator.rewrite import structures
from migrator.rewrite.structures.training_facts import informed, training_facts
from tests.rewrite import training_project as trial

FIXTURES = Path(__file__).parents[2] / "fixtures" / "fit_loop"
CASES = sorted(folder.name for folder in FIXTURES.iterdir())
RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 4)).astype("float32")
Y = (X @ RNG.normal(size=(4, 3)) + RNG.normal(size=(90, 3)) * 0.5).argmax(axis=1)

FRAME = """
import keras
import tensorflow as tf
from models import build_classifier, build_pair
{top}

def main(x, y, option=None):
    model = build_classifier()
    {compile}
    {fit}
"""
COMPILE = 'model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])'
FIT = "model.fit(x, y, epochs=2)"


def frame(compile=COMPILE, fit=FIT, top=""):
    return FRAME.format(top=top, compile=compile.replace("\n", "\n    "), fit=fit.replace("\n", "\n    "))


LEFT_ALONE = {
    "a dataset in place of arrays": (frame(fit="model.fit(x, epochs=2)"), "one data argument"),
    "a dataset that is seen": (
        frame(fit="data = tf.data.Dataset.from_tensor_slices(x)\nmodel.fit(data, y)"),
        "is a dataset or a generator",
    ),
    "steps per epoch": (frame(fit="model.fit(x, y, steps_per_epoch=3)"), "`steps_per_epoch=3`"),
    "class weights": (frame(fit="model.fit(x, y, class_weight={0: 2.0})"), "`class_weight={0: 2.0}`"),
    "sample weights": (frame(fit="model.fit(x, y, sample_weight=option)"), "`sample_weight=option`"),
    "validation data that is not seen to be a pair": (
        frame(fit="model.fit(x, y, validation_data=option)"),
        "not seen to be a pair of arrays",
    ),
    "validation data with weights": (
        frame(fit="model.fit(x, y, validation_data=(x, y, option))"),
        "validation_data with sample weights",
    ),
    "star arguments": (frame(fit="model.fit(x, y, **option)"), "hides which arguments"),
    "an unknown argument": (frame(fit="model.fit(x, y, nb_epoch=2)"), "no parameter `nb_epoch`"),
    "a result inside a larger expression": (
        frame(fit="print(model.fit(x, y).history)"),
        "used inside a larger expression",
    ),
    "a fit that shares its line": (frame(fit="print(1); model.fit(x, y)"), "line of its own"),
    "no compile anywhere": (frame(compile="pass"), "no compile of this model was found"),
    "an optimizer from outside": (frame(compile='model.compile(option, "mse")'), "the optimizer"),
    "an optimizer without a rule": (frame(compile='model.compile("ftrl", "mse")'), "the optimizer 'ftrl'"),
    "an optimizer's old rate": (
        frame(compile='model.compile(keras.optimizers.Adam(lr=0.1), "mse")'),
        "ignored by TensorFlow 2.11 to 2.15",
    ),
    "a schedule of learning rates": (
        frame(
            compile="rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)\n"
            'model.compile(keras.optimizers.SGD(rate), "mse")'
        ),
        "schedules have no rule yet",
    ),
    "momentum with decay": (
        frame(compile='model.compile(keras.optimizers.SGD(0.1, momentum=0.9, weight_decay=0.1), "mse")'),
        "both momentum and weight_decay",
    ),
    "an optimizer that is used elsewhere": (
        frame(compile='opt = keras.optimizers.SGD(0.1)\nmodel.compile(opt, "mse")\nprint(opt.learning_rate)'),
        "`opt` is used for something else",
    ),
    "the model's own optimizer": (frame(fit=f"{FIT}\nprint(model.optimizer.learning_rate)"), "`model.optimizer`"),
    "a loss without a rule": (frame(compile='model.compile("sgd", "kl_divergence")'), "the loss 'kl_divergence'"),
    "a loss of one's own": (
        frame(compile='model.compile("sgd", my_loss)', top="def my_loss(a, b): return tf.abs(a - b)"),
        "the loss `my_loss`",
    ),
    "a loss with another reduction": (
        frame(compile='model.compile("sgd", keras.losses.MeanSquaredError(reduction="sum"))'),
        '`reduction="sum"`',
    ),
    "no loss": (frame(compile='model.compile("sgd")'), "no loss"),
    "loss weights": (frame(compile='model.compile("sgd", "mse", loss_weights=[0.5])'), "`loss_weights=[0.5]`"),
    "a metric without a rule": (
        frame(compile='model.compile("sgd", "mse", metrics=[keras.metrics.AUC()])'),
        "the metric `keras.metrics.AUC()`",
    ),
    "a callback without a rule": (
        frame(fit='model.fit(x, y, callbacks=[keras.callbacks.CSVLogger("log.csv")])'),
        "tf.keras.callbacks.CSVLogger",
    ),
    "a callback from outside": (frame(fit="model.fit(x, y, callbacks=option)"), "the callback `option`"),
    "a callback that watches nothing": (
        frame(fit="model.fit(x, y, callbacks=[keras.callbacks.EarlyStopping()])"),
        "nothing is validated here",
    ),
    "a callback that watches an unknown metric": (
        frame(fit='model.fit(x, y, callbacks=[keras.callbacks.EarlyStopping(monitor="auc")])'),
        "not among the loss and the metrics",
    ),
    "a frozen layer": (frame(fit=f"model.layers[0].trainable = False\n{FIT}"), "freezing has no rule yet"),
    "an optimizer that depends on a changing name": (
        frame(compile='rate = 0.1\nopt = keras.optimizers.SGD(rate)\nrate = 0.2\nmodel.compile(opt, "mse")'),
        "the optimizer",
    ),
    "an optimizer that serves several rounds": (
        frame(compile='opt = keras.optimizers.SGD(0.1)\nfor _ in range(2):\n    model.compile(opt, "mse")'),
        "several rounds of a loop",
    ),
    "an optimizer that serves two compile calls": (
        frame(compile='opt = keras.optimizers.SGD(0.1)\nmodel.compile(opt, "mse")\nmodel.compile(opt, "mae")'),
        "two compile calls",
    ),
    "two kinds of compile": (
        frame(compile=f'if option:\n    {COMPILE}\nelse:\n    model.compile("sgd", "mse", metrics=["mae"])'),
        "compiled in several ways",
    ),
    "a name that the support code needs": (
        frame(top="def mini_batches(): pass"),
        "`mini_batches` is a name of this file",
    ),
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_left_alone_with_its_reason(case, tmp_path):
    source, reason = LEFT_ALONE[case]
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py")
    found = trial.left(context)
    assert any(reason in item[2] for item in found), found
    # compile and fit stay together: nothing of the function was touched
    assert trial.rewritten(context) == source


def test_training_of_a_model_that_stays_tensorflow_is_left(tmp_path):
    context = trial.context_of(trial.project_of(tmp_path, train=frame()), "train.py", models={})
    (_, rule, reason), (_, other, pointer) = trial.left(context)
    assert (rule, other) == ("compile", "fit")
    assert reason == "the model stays TensorFlow, so what trains it does too"
    assert pointer.startswith("it goes together with compile in train.py, line ")


def test_a_left_fit_names_the_reason_once_and_points_there_from_compile(tmp_path):
    source = frame(fit="model.fit(x, y, steps_per_epoch=3)")
    found = trial.left(trial.context_of(trial.project_of(tmp_path, train=source), "train.py"))
    assert [(rule, reason.startswith("it goes together with fit in train.py, line ")) for _, rule, reason in found] == [
        ("compile", True),
        ("fit", False),
    ]


def test_methods_that_only_a_person_can_bring_over_are_named_with_what_to_do(tmp_path):
    source = frame(fit=f'{FIT}\nmodel.save("model.keras")')
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py")
    ((_, rule, reason),) = trial.left(context)
    assert (rule, reason.startswith("Save the state_dict")) == ("model-save", True)
    assert 'model.save("model.keras")' in trial.rewritten(context)


def test_what_evaluates_a_left_model_is_left_too(tmp_path):
    source = frame(fit="model.fit(x, y, steps_per_epoch=3)\nprint(model.evaluate(x, y))")
    found = trial.left(trial.context_of(trial.project_of(tmp_path, train=source), "train.py"))
    assert [rule for _, rule, _ in found] == ["compile", "fit", "evaluate"]


def test_a_variable_shared_with_a_left_fit_keeps_the_other_fit_too(tmp_path):
    source = frame(
        compile=f"{COMPILE}\nother = build_pair()\n{COMPILE.replace('model', 'other')}",
        fit='calls = [keras.callbacks.EarlyStopping(monitor="loss")]\n'
        "model.fit(x, y, callbacks=calls)\nother.fit(x, y, callbacks=calls, steps_per_epoch=2)",
    )
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py")
    assert any("`calls` is used for something else" in reason for _, _, reason in trial.left(context))
    assert trial.rewritten(context) == source


# ------------------------------------------------------------------ both sides executed


def compared(ours, theirs, path="result"):
    """Leaf by leaf, to the rounding of single precision over a few dozen steps."""
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), path
        for key in theirs:
            compared(ours[key], theirs[key], f"{path}[{key!r}]")
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs), path
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            compared(one, other, f"{path}[{index}]")
    else:
        np.testing.assert_allclose(ours, theirs, rtol=3e-5, atol=3e-6, err_msg=path)


@pytest.mark.parametrize("case", CASES)
def test_the_rewritten_file_computes_what_keras_computes(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = (FIXTURES / case / "before.py").read_text()
    context = trial.context_of(trial.project_of(tmp_path, train=before), "train.py")
    assert trial.left(context) == []
    (tmp_path / "after.py").write_text(trial.rewritten(context))
    theirs = trial.run(tmp_path / "train.py", "keras", X, Y)
    ours = trial.run(tmp_path / "after.py", "torch", X, Y)
    compared(ours, theirs)


@pytest.mark.parametrize("case", CASES)
def test_the_rewritten_file_reads_as_the_fixture_says(case, tmp_path):
    before, after = ((FIXTURES / case / f"{name}.py").read_text() for name in ("before", "after"))
    assert trial.rewritten(trial.context_of(trial.project_of(tmp_path, train=before), "train.py")) == after


@pytest.mark.parametrize("case", CASES)
def test_a_rewritten_file_keeps_every_comment_once_and_is_not_touched_again(case, tmp_path):
    before, after = ((FIXTURES / case / f"{name}.py").read_text() for name in ("before", "after"))
    for line in before.splitlines():
        comment = line.partition("# ")[2]
        assert not comment or after.count(comment) == 1, comment
    ast.parse(after)
    context = trial.context_of(trial.project_of(tmp_path, train=after), "train.py")
    assert all(not proposal.edits for proposal in trial.propose(context))


# ------------------------------------------------------------------ what parity is told

TRAINED = """
import keras
from models import build_classifier

EPOCHS = 4

def load():
    return None

def train(x, y, rate=0.1):
    model = build_classifier()
    model.compile(keras.optimizers.{optimizer}, keras.losses.SparseCategoricalCrossentropy(), metrics=["mse", "acc"])
    return model.fit(x, y, epochs=EPOCHS, batch_size=8)

def main():
    (x_train, y_train), (x_test, y_test) = load()
    {change}
    train(x_train, y_train)
"""


def facts_of(tmp_path, optimizer="Adam(2e-3)", change="pass"):
    source = TRAINED.format(optimizer=optimizer, change=change)
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py")
    return training_facts(context)[Definition("models.py", "build_classifier")]


def test_a_pair_learns_loss_optimizer_and_training_from_the_code(tmp_path):
    facts = facts_of(tmp_path)
    assert facts.loss == Named("SparseCategoricalCrossentropy")
    assert facts.optimizer == Named("Adam", {"learning_rate": 2e-3})
    assert facts.differences == ("adam-epsilon",)
    assert facts.training == Training("train.py:load", epochs=4, metric="acc", batch=8)


def test_a_pair_is_completed_and_keeps_what_it_has(tmp_path):
    context = trial.context_of(
        trial.project_of(tmp_path, train=TRAINED.format(optimizer="Adam()", change="pass")), "train.py"
    )
    accepted = Accept("batchnorm-variance", "known")
    reference = "models.py:build_classifier"
    (pair,) = informed([Pair("one", reference, reference, ("float32[batch,4]",), accept=(accepted,))], context)
    assert (pair.loss, pair.optimizer) == (Named("SparseCategoricalCrossentropy"), Named("Adam"))
    assert (pair.batch, pair.training.epochs) == (8, 4)
    assert [item.id for item in pair.accept] == ["batchnorm-variance", "adam-epsilon"]


def test_a_pair_is_told_nothing_about_an_optimizer_whose_rate_is_not_written_out(tmp_path):
    assert facts_of(tmp_path, optimizer="Adam(rate)").optimizer is None


def test_a_pair_is_told_nothing_about_data_that_is_changed_after_loading(tmp_path):
    assert facts_of(tmp_path, change="x_train = x_train / 255").training is None


# ------------------------------------------------------------------ across files, profiles, generations


KIT = '''
"""What several scripts share."""
import keras

from models import build_classifier


def ready(rate=0.3):
    """A compiled classifier."""
    made = build_classifier()
    made.compile(keras.optimizers.SGD(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return made


def report(network, x, y):
    """The scores as text."""
    return "{:.3f} {:.3f}".format(*network.evaluate(x, y, verbose=0))
'''
SCRIPT = """
import kit


def main(x, y):
    network = kit.ready()
    network.fit(x, y, epochs=3, shuffle=False, verbose=0)
    return kit.report(network, x, y)
"""


def test_compiled_in_one_file_trained_in_another_and_judged_in_the_first(tmp_path, monkeypatch):
    project = trial.project_of(tmp_path, kit=KIT, train=SCRIPT)
    out = tmp_path / "torch"
    out.mkdir()
    results = {}
    for side, folder in (("keras", tmp_path), ("torch", out)):
        for name in ("kit", "train"):
            context = trial.context_of(project, f"{name}.py")
            assert trial.left(context) == []
            (out / f"{name}.py").write_text(trial.rewritten(context))
        with monkeypatch.context() as patch:
            patch.syspath_prepend(folder)
            patch.delitem(sys.modules, "kit", raising=False)
            results[side] = trial.run(folder / "train.py", side, X, Y)
            sys.modules.pop("kit")
    assert results["torch"] == results["keras"]


def test_a_model_from_a_method_is_left_with_the_compile_inside_that_method(tmp_path):
    source = """
import keras
from models import build_classifier

class Experiment:
    def __init__(self):
        self.model = self.make()

    def make(self):
        model = build_classifier()
        model.compile("sgd", "sparse_categorical_crossentropy")
        return model

    def run(self, x, y, steps):
        self.model.fit(x, y, steps_per_epoch=steps)
"""
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py")
    assert [rule for _, rule, _ in trial.left(context)] == ["compile", "fit"]
    assert trial.rewritten(context) == source


def test_the_seed_is_set_for_pytorch_once_all_training_is_rewritten(tmp_path):
    rewritten = frame(fit=f"keras.utils.set_random_seed(7)\n{FIT}")
    assert "    seed_all(7)\n" in trial.rewritten(
        trial.context_of(trial.project_of(tmp_path, train=rewritten), "train.py")
    )
    stays = frame(fit=f"keras.utils.set_random_seed(7)\n{FIT}\nmodel.fit(x)")
    assert trial.rewritten(trial.context_of(trial.project_of(tmp_path, train=stays), "train.py")) == stays


def test_the_faithful_profile_keeps_kerass_adam(tmp_path):
    source = frame(compile='model.compile("adam", "sparse_categorical_crossentropy")')
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py", profile="faithful")
    assert "optimizer = AdamEpsilonHat(model.parameters(), lr=1e-3, eps=1e-7)" in trial.rewritten(context)


def test_keras_2_restores_only_when_it_stopped_and_calls_the_rate_lr(tmp_path):
    source = frame(
        compile='model.compile("sgd", "sparse_categorical_crossentropy", ["accuracy"])',
        fit="model.fit(x, y, validation_split=0.1, workers=2, callbacks=[\n"
        "    keras.callbacks.EarlyStopping(restore_best_weights=True), keras.callbacks.ReduceLROnPlateau()])",
    )
    text = trial.rewritten(trial.context_of(trial.project_of(tmp_path, train=source), "train.py", keras=2))
    assert "            early_stopping.restore(model)\n            break\n    model.eval()" in text
    assert 'logs["lr"] = optimizer.param_groups[0]["lr"]' in text
    assert 'metrics = {"accuracy": batch_accuracy}' in text


def test_keras_3_takes_the_third_argument_of_compile_for_loss_weights(tmp_path):
    source = frame(compile='model.compile("sgd", "mse", ["accuracy"])')
    context = trial.context_of(trial.project_of(tmp_path, train=source), "train.py", keras=3)
    assert "`loss_weights=" in trial.left(context)[0][2]


def test_every_training_rule_gives_each_argument_a_fate():
    """Used by the structure's code, harmless or a reason to leave the call: no fourth way."""
    code = "".join(path.read_text() for path in Path(structures.__file__).parent.glob("*.py"))
    for rule in trial.CATALOGUE:
        if rule.structure == "fit_loop":
            for parameter in rule.parameters:
                told = parameter.name in rule.ignore or parameter.name in rule.refuse
                assert told or f'"{parameter.name}"' in code, (rule.id, parameter.name)
