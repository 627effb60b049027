"""What must not be left half converted: a group of models that the rest of a project cannot live with stays whole."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from migrator.catalogue import load_rules
from migrator.data import rules_folder
from migrator.facts import Rewritten
from migrator.resolve import resolve
from migrator.rewrite import rewrite
from migrator.scan import read

CATALOGUE = load_rules([rules_folder()])
HEAD = "from tensorflow import keras\nfrom tensorflow.keras import layers, Model, Input, Sequential\n\n\n"
BASE = HEAD + dedent(
    """\
    def base(classes=4):
        i = Input((8,))
        return Model(i, layers.Dense(classes)(i))
    """
)
BLOCK = "from tensorflow.keras import layers\n\n\ndef block(x, units):\n    return layers.Dense(units)(x)\n"


def run(folder: Path, **files: str) -> Rewritten:
    """Rewrites files given by their names without `.py`; `__` separates folders."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    return rewrite(resolve(read(folder)), CATALOGUE)


def texts(result: Rewritten) -> dict[str, str]:
    """The new text of each file."""
    return {item.path: item.after for item in result.files}


def reasons(result: Rewritten) -> list[str]:
    """All reasons."""
    return [item.reason for item in result.left]


# ---------------------------------------------------------------- parts of models that stay

PARTS = {
    "a variable applied": "def outer():\n    i = Input((8,))\n    b = base()\n    return Model(i, b(i))\n",
    "a result applied at once": "def outer():\n    i = Input((8,))\n    return Model(i, base()(i))\n",
    "an element of a Sequential": "def outer():\n    return Sequential([base(), layers.Dense(1)])\n",
    "added to a Sequential": "def outer():\n    m = Sequential()\n    m.add(base())\n    return m\n",
    "its input and output": "def outer():\n    b = base()\n    return Model(b.input, layers.Dense(2)(b.output))\n",
    "an inner layer": "def outer():\n    b = base()\n    return Model(b.input, b.get_layer('top').output)\n",
    "a parameter": (
        "def join(a, b):\n    i = Input((8,))\n    return Model(i, [a(i), b(i)])\n\n\n"
        "def outer():\n    one, two = base(), base(2)\n    return join(one, two)\n"
    ),
    "two models in one function": (
        "def outer(b):\n    i = Input((8,))\n    one = Model(i, b(i))\n    two = Model(i, layers.Dense(1)(b(i)))\n"
        "    return one, two\n\n\nouter(base())\n"
    ),
    "inside a wrapper": (
        "def outer():\n    i = Input((3, 8))\n    return Model(i, layers.TimeDistributed(base())(i))\n"
    ),
    "a conditional expression": (
        "def outer(wide):\n    i = Input((8,))\n    b = base(9) if wide else base()\n    return Model(i, b(i))\n"
    ),
    "several in a list": (
        "def outer():\n    i = Input((8,))\n    members = [base() for _ in range(3)]\n"
        "    return Model(i, layers.average([member(i) for member in members]))\n"
    ),
    "a table of factories": (
        "BUILDERS = {'base': base}\n\n\n"
        "def outer(name):\n    i = Input((8,))\n    b = BUILDERS[name]()\n    return Model(i, b(i))\n"
    ),
    "a factory handed on": ("def outer(make):\n    i = Input((8,))\n    return Model(i, make()(i))\n\n\nouter(base)\n"),
    "an attribute of an object": (
        "class Both:\n    def __init__(self):\n        self.inner = base()\n        i = Input((8,))\n"
        "        self.whole = Model(i, self.inner(i))\n"
    ),
    "a class that stays": (
        "class Pair(keras.Model):\n    def __init__(self, inner):\n        super().__init__()\n"
        "        self.inner = inner\n"
        "\n    def call(self, x):\n        return self.inner(x)\n\n\ndef outer():\n    return Pair(base())\n"
    ),
}


@pytest.mark.parametrize("code", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("apart", [False, True], ids=["in one file", "in two files"])
def test_a_factory_whose_result_is_part_of_a_tensorflow_model_stays(code: str, apart: bool, tmp_path: Path) -> None:
    files = {"m": BASE, "n": HEAD + "from m import base\n\n\n" + code} if apart else {"m": BASE + "\n\n" + code}
    result = run(tmp_path, **files)
    assert "nn.Module" not in "".join(texts(result).values())
    assert any(item.file == "m.py" and "line" in item.reason for item in result.left)
    assert not result.pairs


def test_the_reason_names_the_function_and_stands_above_the_factory(tmp_path: Path) -> None:
    result = run(tmp_path, m=BASE, n=HEAD + "from m import base\n\n\n" + PARTS["a variable applied"])
    lines = texts(result)["m.py"].splitlines()
    marker = lines[lines.index("def base(classes=4):") - 1]
    assert marker.startswith("# migrate: manual functional: `outer` in n.py, line 11, makes it a part of a model")


def test_only_factories_that_are_parts_are_dragged_along(tmp_path: Path) -> None:
    code = BASE + "\n\n" + PARTS["a variable applied"]
    code += "\n\ndef other():\n    i = Input((8,))\n    return Model(i, layers.Dense(3)(i))\n"
    code += "\n\ndef top():\n    i = Input((8,))\n    o = other()\n    return Model(i, layers.Dense(3)(o(i)))\n"
    code += "\n\ndef alone():\n    i = Input((8,))\n    return Model(i, layers.Dense(3)(i))\n"
    result = run(tmp_path, m=code)
    assert [pair.torch for pair in result.pairs] == ["m.py:alone"]


def test_a_table_of_factories_whose_models_are_trained_is_no_obstacle(tmp_path: Path) -> None:
    train = """\
        from tensorflow.keras import Sequential, layers
        from m import base

        BUILDERS = {"base": base}


        def main(name, x, y):
            model = BUILDERS[name]()
            return model


        def strange():
            return Sequential([layers.Mystery()])
        """
    result = run(tmp_path, m=BASE, train=train)
    assert "class Base(nn.Module)" in texts(result)["m.py"]


def test_a_model_that_is_only_trained_is_converted(tmp_path: Path) -> None:
    train = """\
        from m import base


        def main(x, y):
            model = base()
            model.compile("sgd", "mse")
            model.fit(x, y, epochs=2)
            model.predict(x)
        """
    result = run(tmp_path, m=BASE, train=train)
    assert reasons(result) == []
    assert "class Base(nn.Module)" in texts(result)["m.py"]


# ---------------------------------------------------------------- attributes

ATTRIBUTES = {
    "frozen": "model.trainable = False",
    "layers read": "print(len(model.layers))",
    "layers in a loop": "for layer in model.layers:\n    layer.trainable = False",
    "the last layer taken off": "model.pop()",
    "its name": "print(model.name)",
    "a layer by name": "model.get_layer('top')",
    "its inputs": "print(model.inputs)",
    "its output": "print(model.output_shape)",
    "built by hand": "model.build((None, 8))",
}


@pytest.mark.parametrize("use", ATTRIBUTES.values(), ids=ATTRIBUTES)
@pytest.mark.parametrize("place", ["in the factory", "elsewhere", "in a script"])
def test_an_attribute_that_modules_do_not_have_keeps_the_model(use: str, place: str, tmp_path: Path) -> None:
    inner = use.replace("\n", "\n    ")
    made = "model = Sequential([Input((8,)), layers.Dense(4, name='top')])"
    files = {
        "in the factory": {"m": HEAD + f"def build():\n    {made}\n    {inner}\n    return model\n"},
        "in a script": {"m": HEAD + f"{made}\n{use}\n"},
        "elsewhere": {
            "m": HEAD + f"def build():\n    {made}\n    return model\n",
            "n": f"from m import build\n\n\ndef use():\n    model = build()\n    {inner}\n",
        },
    }[place]
    result = run(tmp_path, **files)
    assert "nn.Module" not in "".join(texts(result).values())
    assert len({item.line for item in result.left if item.file == "m.py"}) == 1


def test_a_compile_that_is_left_in_the_factory_keeps_the_model(tmp_path: Path) -> None:
    code = HEAD + "def build():\n    model = Sequential([Input((8,)), layers.Dense(4)])\n"
    code += "    model.compile('sgd', loss=lambda a, b: a - b)\n    return model\n"
    result = run(tmp_path, m=code)
    assert "nn.Module" not in texts(result)["m.py"]
    assert "`model.compile`" in "".join(reasons(result))


def test_a_compile_that_is_left_elsewhere_says_that_the_model_is_pytorch_now(tmp_path: Path) -> None:
    train = """\
        from m import base


        def main(x, y):
            model = base()
            model.compile("sgd", lambda a, b: a - b)
            model.fit(x, y)
        """
    result = run(tmp_path, m=BASE, train=train)
    assert "class Base" in texts(result)["m.py"]
    markers = [line for line in texts(result)["train.py"].splitlines() if "# migrate" in line]
    assert len(markers) == 2
    assert all("the model is PyTorch now" in line for line in markers)


def test_a_call_of_the_model_in_tensorflow_code_gets_a_marker(tmp_path: Path) -> None:
    step = """\
        import tensorflow as tf
        from m import base

        model = base()


        def step(x):
            with tf.GradientTape() as tape:
                y = model(x, training=True)
            return y
        """
    result = run(tmp_path, m=BASE, step=step)
    assert "class Base" in texts(result)["m.py"]
    lines = texts(result)["step.py"].splitlines()
    (above,) = [lines[index - 1] for index, line in enumerate(lines) if "y = model(x" in line]
    assert "the model is PyTorch now" in above


# ---------------------------------------------------------------- names

STARS = {"a": BLOCK, "n": "from tensorflow.keras import Model, Input\nfrom a import *\n\n\n"}
NET = "def net():\n    i = Input((8,))\n    return Model(i, {})\n"


def test_a_helper_that_arrives_by_a_star_stays(tmp_path: Path) -> None:
    result = run(tmp_path, a=BLOCK, n=STARS["n"] + NET.format("block(i, 4)"))
    assert all(item.status == "unchanged" for item in result.files)
    assert any("`import *`" in reason for reason in reasons(result))


TWO = {
    "an alias": ("from a import block as ablock\nfrom b import block\n", ""),
    "two aliases": ("from a import block as ablock\nfrom b import block as bblock\n", ""),
    "a local one": (
        "from a import block as ablock\nfrom tensorflow.keras import layers\n",
        "def block(x, units):\n    return layers.Dense(units, use_bias=False)(x)\n\n\n",
    ),
}


@pytest.mark.parametrize(("imports", "local"), TWO.values(), ids=TWO)
@pytest.mark.parametrize("functions", ["in one function", "in two functions"])
def test_two_helpers_of_one_name_are_never_confused(imports: str, local: str, functions: str, tmp_path: Path) -> None:
    second = "bblock" if "bblock" in imports else "block"
    head = "from tensorflow.keras import Model, Input\n" + imports + "\n\n" + local
    if functions == "in one function":
        code = head + NET.format(f"ablock({second}(i, 4), 5)")
    else:
        code = head + NET.format("ablock(i, 5)") + "\n\n" + NET.format(f"{second}(i, 4)").replace("net", "net2")
    result = run(
        tmp_path, a=BLOCK, b=BLOCK.replace("layers.Dense(units)", "layers.Dense(units, use_bias=False)"), n=code
    )
    text = texts(result)["n.py"]
    imported = re.findall(r"^from \w+ import (Block)\b|^class (Block)\b", text, re.MULTILINE)
    assert len(imported) <= 1
    assert any("would be called `Block`" in reason for reason in reasons(result))


def test_names_in_all_are_renamed_with_their_helper(tmp_path: Path) -> None:
    helper = BLOCK.replace("\n\n\n", '\n\n__all__ = ["block"]\n\n\n', 1)
    result = run(tmp_path, a=helper, n=STARS["n"].replace("*", "block") + NET.format("block(i, 4)"))
    assert '__all__ = ["Block"]' in texts(result)["a.py"]
    assert "from a import Block" in texts(result)["n.py"]


def test_a_name_set_among_the_layers_and_read_after_them_keeps_its_own_model_only(tmp_path: Path) -> None:
    code = BASE + dedent(
        """\


        def build(classes):
            i = Input((8,))
            x = layers.Dense(4)(i)
            if classes == 1:
                loss = "binary_crossentropy"
                x = layers.Dense(1, activation="sigmoid")(x)
            else:
                loss = "mse"
                x = layers.Dense(classes)(x)
            model = Model(i, x)
            model.compile("sgd", loss=loss)
            return model
        """
    )
    result = run(tmp_path, m=code)
    text = texts(result)["m.py"]
    assert "class Base(nn.Module)" in text
    assert "def build(classes):\n    i = Input((8,))" in text
    assert [item.reason for item in result.left if "`loss`" in item.reason]


def test_a_file_that_would_be_wrong_takes_back_the_group_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import migrator.rewrite.driver as driver

    def fault(before, after):  # type: ignore[no-untyped-def]
        return "it holds Block" if "def net" in after.code and "Block(" in after.code else None

    monkeypatch.setattr(driver, "fault", fault)
    code = STARS["n"].replace("*", "block") + NET.format("block(i, 4)") + BASE.partition("\n\n\n")[2]
    result = run(tmp_path, a=BLOCK, n=code.replace("import Model", "import layers, Model"))
    assert texts(result)["a.py"].endswith(BLOCK.partition("\n\n\n")[2])
    assert "class Base(nn.Module)" in texts(result)["n.py"]
    assert "from a import block\n" in texts(result)["n.py"]
    assert any("it holds Block" in reason for reason in reasons(result))


TWICE = BASE + "\n\n" + "def base(classes=4):\n    i = Input((9,))\n    return Model(i, layers.Dense(classes)(i))\n"


def test_a_function_defined_twice_is_left_both_times(tmp_path: Path) -> None:
    result = run(tmp_path, m=TWICE)
    assert "nn.Module" not in texts(result)["m.py"]
    assert any("defined 2 times" in reason for reason in reasons(result))


def test_a_global_statement_keeps_its_own_function_only(tmp_path: Path) -> None:
    code = BASE + "\n\nmodel = None\n\n\ndef build():\n    global model\n    i = Input((8,))\n"
    code += "    model = Model(i, layers.Dense(4)(i))\n    return model\n"
    result = run(tmp_path, m=code)
    assert "class Base(nn.Module)" in texts(result)["m.py"]
    assert any("global statement" in reason for reason in reasons(result))


# ---------------------------------------------------------------- markers

REFUSED = """\
    import tensorflow as tf
    from tensorflow import keras

    L = keras.layers


    def custom(x):
        # why
        y = tf.py_function(lambda v: v, [x], tf.float32)
        return tf.reduce_sum(y)


    def refused(n):
        m = tf.keras.Sequential()
        m.add(L.Dense(3, input_shape=(4,)))
        m.add(L.Mystery())
        m.add(L.Dense(4))
        if tf.keras.backend.image_data_format() == "channels_last":
            print(n)
        m.compile("sgd", "mse")
        return m
    """


def test_a_file_where_nothing_was_rewritten_gets_its_markers(tmp_path: Path) -> None:
    (result,) = run(tmp_path, m=REFUSED).files
    assert result.status == "unchanged"
    marked = [line for line in result.after.splitlines() if "# migrate: " in line]
    assert [line for line in result.after.splitlines() if line not in marked] == result.before.splitlines()
    assert all(re.match(r" *# migrate: (exact|review|manual|blocked) [a-z][\w-]*: .", line) for line in marked)
    assert len(marked) == 3


def test_markers_are_not_repeated_when_the_lines_have_moved(tmp_path: Path) -> None:
    (first,) = run(tmp_path, m=REFUSED).files
    (again,) = run(tmp_path, m=first.after).files
    assert again.after == first.after


def test_a_marker_above_the_first_line_is_not_repeated(tmp_path: Path) -> None:
    code = "from tensorflow.keras import Sequential, layers; m = Sequential([layers.Mystery()])\n"
    (first,) = run(tmp_path, m=code).files
    assert first.after.startswith("# migrate: ")
    (again,) = run(tmp_path, m=first.after).files
    assert again.after == first.after


def test_a_refused_model_has_one_reason(tmp_path: Path) -> None:
    result = run(tmp_path, m=REFUSED)
    assert [item.line for item in result.left if item.line > 12] == [16]
    assert "Mystery" in result.left[-1].reason


def test_a_group_that_is_refused_points_to_its_reason_from_each_function(tmp_path: Path) -> None:
    helper = BLOCK.replace("return", "x = layers.Mystery()(x)\n    return")
    result = run(tmp_path, a=helper, n=STARS["n"].replace("*", "block") + NET.format("block(i, 4)"))
    (cause, pointer) = result.left
    assert (cause.file, cause.line) == ("a.py", 5)
    assert (pointer.file, pointer.line) == ("n.py", 5)
    assert "a.py says in line 5" in pointer.reason


ALIAS = """\
    from tensorflow import keras
    # parts of it
    L = keras.layers
    K = keras.backend


    # a model
    def fine(n: int = 3):
        m = keras.Sequential()
        m.add(L.Dense(n, input_shape=(4,)))
        return m
    """


def test_an_alias_goes_when_every_use_of_it_is_rewritten(tmp_path: Path) -> None:
    text = texts(run(tmp_path, m=ALIAS.replace("K = keras.backend\n", "")))["m.py"]
    assert "keras.layers" not in text
    assert "tensorflow" not in text
    assert "# parts of it" in text


def test_an_alias_that_something_else_uses_stays(tmp_path: Path) -> None:
    code = ALIAS + "\n\n    def other(x):\n        return K.mystery(L.Mystery()(x))\n"
    result = run(tmp_path, m=code)
    text = texts(result)["m.py"]
    assert "L = keras.layers\nK = keras.backend\n" in text
    assert not any(item.line in (3, 4) for item in result.left)


# ---------------------------------------------------------------- annotations

ANNOTATED = """\
    import tensorflow as tf
    from tensorflow import keras
    from tensorflow.keras import Model, Sequential


    def fine(n: int = 3) -> tf.keras.Model:
        return Sequential([keras.layers.Dense(n, input_shape=(4,))])


    def other(n: int = 3) -> Sequential:
        return fine(n)


    def train(m: Model, x, y) -> keras.Model:
        m.compile("sgd", "mse")
        m.fit(x, y)
        return m


    def loss(a: tf.Tensor, b: "tf.Tensor") -> tf.Tensor:
        return tf.reduce_mean(tf.square(a - b))


    train(other(), None, None)
    """


def test_annotations_of_rewritten_code_are_those_of_pytorch(tmp_path: Path) -> None:
    result = run(tmp_path, m=ANNOTATED)
    text = texts(result)["m.py"]
    assert result.files[0].status == "full"
    assert "def fine(n: int = 3) -> nn.Module:" in text
    assert "def other(n: int = 3) -> nn.Module:" in text
    assert "def train(m: nn.Module, x, y) -> nn.Module:" in text
    assert "def loss(a: torch.Tensor, b: " in text
    assert "tensorflow" not in text


def test_annotations_of_code_that_stays_stay(tmp_path: Path) -> None:
    code = """\
        import tensorflow as tf


        def loss(a: tf.Tensor) -> tf.Tensor:
            return tf.py_function(abs, [a], tf.float32)


        def named(m: tf.keras.Model) -> str:
            return str(m)
        """
    (result,) = run(tmp_path, m=code).files
    assert "def loss(a: tf.Tensor) -> tf.Tensor:" in result.after
    assert "annotates code that was not rewritten\ndef named(m: tf.keras.Model)" in result.after
