"""Every way of naming an API, labelled in place; precision and recall must both be 100%.

A comment `#: code = canonical.name use` says that `code` on this line is a use; several are joined by ` | `. What is
not labelled must not be found. `#? code` says that this cannot be decided.
"""

# ruff: noqa: E501 -- a label stands on the line that it labels

from __future__ import annotations

import re
from pathlib import Path

import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from migrator.resolve import resolve
from migrator.scan import read

LABEL = re.compile(r"#: (.*)$")
UNKNOWN = re.compile(r"#\? (.*)$")

CASES: dict[str, dict[str, str]] = {
    "the usual alias": {
        "a.py": """
import tensorflow as tf
x = tf.nn.relu(1)  #: tf.nn.relu = tf.nn.relu call
"""
    },
    "no alias": {
        "a.py": """
import tensorflow
x = tensorflow.nn.relu(1)  #: tensorflow.nn.relu = tf.nn.relu call
"""
    },
    "another alias": {
        "a.py": """
import tensorflow as flow
x = flow.cast(1, flow.float32)  #: flow.cast = tf.cast call | flow.float32 = tf.float32 reference
"""
    },
    "a submodule imported without an alias binds the root": {
        "a.py": """
import tensorflow.keras.layers
x = tensorflow.keras.layers.Dense(1)  #: tensorflow.keras.layers.Dense = tf.keras.layers.Dense call
"""
    },
    "a submodule with an alias": {
        "a.py": """
import tensorflow.keras.backend as K
x = K.int_shape(1)  #: K.int_shape = tf.keras.backend.int_shape call
"""
    },
    "stand-alone Keras": {
        "a.py": """
import keras
from keras.layers import Dense
x = keras.Input((3,))  #: keras.Input = tf.keras.Input call
y = Dense(3)(x)  #: Dense = tf.keras.layers.Dense call
"""
    },
    "the old Keras under its own name": {
        "a.py": """
import tf_keras as keras
m = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
"""
    },
    "the spelling after the root stays": {
        "a.py": """
from tensorflow.keras.models import Sequential
m = Sequential()  #: Sequential = tf.keras.models.Sequential call
"""
    },
    "private roots are the public one": {
        "a.py": """
from tensorflow.python.keras import layers
from keras.src.layers import Dense
x = layers.ReLU()  #: layers.ReLU = tf.keras.layers.ReLU call
y = Dense(1)  #: Dense = tf.keras.layers.Dense call
"""
    },
    "compat v2 is the root and compat v1 is kept": {
        "a.py": """
import tensorflow.compat.v2 as tf2
import tensorflow.compat.v1 as tf
import tensorflow
a = tf2.nn.relu(1)  #: tf2.nn.relu = tf.nn.relu call
b = tf.placeholder(tf.float32)  #: tf.placeholder = tf.compat.v1.placeholder call | tf.float32 = tf.compat.v1.float32 reference
c = tensorflow.compat.v2.keras.Input()  #: tensorflow.compat.v2.keras.Input = tf.keras.Input call
"""
    },
    "companions keep their root": {
        "a.py": """
import tensorflow_addons as tfa
import tensorflow_hub as hub
a = tfa.layers.WeightNormalization(1)  #: tfa.layers.WeightNormalization = tensorflow_addons.layers.WeightNormalization call
b = hub.KerasLayer("x")  #: hub.KerasLayer = tensorflow_hub.KerasLayer call
"""
    },
    "a from import with an alias": {
        "a.py": """
from tensorflow.keras import layers as L, models
x = L.Dense(1)  #: L.Dense = tf.keras.layers.Dense call
m = models.Model(x, x)  #: models.Model = tf.keras.models.Model call
"""
    },
    "an alias of an attribute": {
        "a.py": """
import tensorflow as tf
L = tf.keras.layers  #: tf.keras.layers = tf.keras.layers reference
Conv = L.Conv2D  #: L.Conv2D = tf.keras.layers.Conv2D reference
x = Conv(1, 2)  #: Conv = tf.keras.layers.Conv2D call
"""
    },
    "aliases assigned as a tuple": {
        "a.py": """
from tensorflow.keras import layers
A, B = layers.Add, layers.Dot  #: layers.Add = tf.keras.layers.Add reference | layers.Dot = tf.keras.layers.Dot reference
x = B(1)  #: B = tf.keras.layers.Dot call
"""
    },
    "an alias inside a function": {
        "a.py": """
import tensorflow as tf
def f(x):
    r = tf.nn.relu  #: tf.nn.relu = tf.nn.relu reference
    return r(x)  #: r = tf.nn.relu call
"""
    },
    "references passed as values": {
        "a.py": """
from tensorflow.keras import layers
def block(x, act=layers.ReLU):  #: layers.ReLU = tf.keras.layers.ReLU reference
    return act()(x)
y = block(1, act=layers.ELU)  #: layers.ELU = tf.keras.layers.ELU reference
"""
    },
    "both calls of a layer applied at once": {
        "a.py": """
from tensorflow.keras import layers
x = layers.Dense(1)(layers.Flatten()(2))  #: layers.Dense = tf.keras.layers.Dense call | layers.Flatten = tf.keras.layers.Flatten call
"""
    },
    "decorators with and without a call": {
        "a.py": """
import tensorflow as tf
@tf.function  #: tf.function = tf.function reference
def f(x):
    return x
@tf.function(jit_compile=True)  #: tf.function = tf.function call
def g(x):
    return x
"""
    },
    "base classes and annotations": {
        "a.py": """
import tensorflow as tf
class Net(tf.keras.Model):  #: tf.keras.Model = tf.keras.Model reference
    pass
def f(x: tf.Tensor) -> "tf.Tensor":  #: tf.Tensor = tf.Tensor reference
    return x.numpy()  #: x.numpy = tf.Tensor.numpy method
"""
    },
    "a star import": {
        "a.py": """
from tensorflow.keras.layers import *
from os.path import *
x = Dense(1)  #: Dense = tf.keras.layers.Dense call
y = print(join("a"))
"""
    },
    "a star import that hides a built-in name": {
        "a.py": """
from keras.backend import *
x = sum(1)  #: sum = tf.keras.backend.sum call
y = len([])
"""
    },
    "two star imports": {
        "a.py": """
from tensorflow.keras.models import *
from tensorflow.keras.optimizers import *
m = Sequential()  #: Sequential = tf.keras.models.Sequential call
o = Adam()  #: Adam = tf.keras.optimizers.Adam call
"""
    },
    "names bound in try and except": {
        "a.py": """
try:
    from tensorflow import keras
except ImportError:
    import keras
try:
    import tensorflow as tf
except ImportError:
    tf = None
x = keras.Input((1,))  #: keras.Input = tf.keras.Input call
y = tf.nn.relu(x)  #: tf.nn.relu = tf.nn.relu call
"""
    },
    "the same class from two places": {
        "a.py": """
try:
    from keras.layers.merge import add
except ImportError:
    from keras.layers import add
x = add([1, 2])  #: add = tf.keras.layers.merge.add call
"""
    },
    "names bound in if": {
        "a.py": """
import sys
if sys.argv:
    from tensorflow.keras import layers
else:
    from keras import layers
x = layers.Dense(1)  #: layers.Dense = tf.keras.layers.Dense call
"""
    },
    "one of two libraries cannot be decided": {
        "a.py": """
import sys
if sys.argv:
    import tensorflow as np
else:
    import numpy as np
x = np.zeros(3)  #? np.zeros
"""
    },
    "another library under the usual alias is not TensorFlow": {
        "a.py": """
import torch as tf
import keras
x = tf.relu(1)
y = keras.Input((1,))  #: keras.Input = tf.keras.Input call
"""
    },
    "a name that is given another value": {
        "a.py": """
import tensorflow as tf
x = tf.nn.relu(1)  #: tf.nn.relu = tf.nn.relu call
tf = None
y = tf.nn.relu(1)
"""
    },
    "a parameter hides a module": {
        "a.py": """
from tensorflow import keras
def f(keras):
    return keras.thing()  #? keras.thing
def g():
    return keras.Input((1,))  #: keras.Input = tf.keras.Input call
"""
    },
    "a local name hides a module all over its function": {
        "a.py": """
from tensorflow.keras import layers
def f(n):
    for layers in range(n):
        print(layers)
    return layers
def g():
    return layers.ReLU()  #: layers.ReLU = tf.keras.layers.ReLU call
"""
    },
    "a comprehension's variable hides a module only inside": {
        "a.py": """
from tensorflow.keras import layers
sizes = [layers for layers in range(3)]
x = layers.ReLU()  #: layers.ReLU = tf.keras.layers.ReLU call
y = [layers.Dense(n) for n in sizes]  #: layers.Dense = tf.keras.layers.Dense call
"""
    },
    "a class body is not seen by its methods": {
        "a.py": """
from tensorflow.keras import layers
class A:
    layers = 3
    def f(self):
        return layers.ReLU()  #: layers.ReLU = tf.keras.layers.ReLU call
"""
    },
    "a lambda and its parameters": {
        "a.py": """
import tensorflow as tf
f = lambda x: tf.nn.relu(x)  #: tf.nn.relu = tf.nn.relu call
g = lambda tf: tf.nn
"""
    },
    "a global declaration": {
        "a.py": """
tf = None
def load():
    global tf
    import tensorflow as tf
def f(x):
    return tf.nn.relu(x)  #: tf.nn.relu = tf.nn.relu call
"""
    },
    "imports inside a function": {
        "a.py": """
def f(x):
    import tensorflow as tf
    return tf.nn.relu(x)  #: tf.nn.relu = tf.nn.relu call
def g(tf):
    return tf
"""
    },
    "a re-export through the project": {
        "compat.py": """
import tensorflow as tf
from tensorflow import keras
layers = keras.layers  #: keras.layers = tf.keras.layers reference
""",
        "a.py": """
from compat import tf, layers as L
import compat
x = tf.nn.relu(1)  #: tf.nn.relu = tf.nn.relu call
y = L.Dense(1)  #: L.Dense = tf.keras.layers.Dense call
z = compat.keras.Input((1,))  #: compat.keras.Input = tf.keras.Input call
""",
    },
    "relative imports and a package's own file": {
        "pkg/__init__.py": """
from .backend import K
from . import backend
""",
        "pkg/backend.py": """
from tensorflow.keras import backend as K
""",
        "pkg/sub/__init__.py": "",
        "pkg/sub/a.py": """
from .. import K
from ..backend import K as B
import pkg.backend
x = K.mean(1)  #: K.mean = tf.keras.backend.mean call
y = B.sum(1)  #: B.sum = tf.keras.backend.sum call
z = pkg.backend.K.max(1)  #: pkg.backend.K.max = tf.keras.backend.max call
""",
    },
    "a star import of a project module": {
        "common.py": """
from tensorflow.keras.layers import *
from tensorflow.keras import models as _m, backend as K
""",
        "a.py": """
from common import *
x = Dense(1)  #: Dense = tf.keras.layers.Dense call
y = K.mean(x)  #: K.mean = tf.keras.backend.mean call
""",
    },
    "a script in a folder that is called like the library": {
        "keras/train.py": """
import keras
m = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
"""
    },
    "a project module that is called like an API": {
        "layers.py": """
import tensorflow as tf
def Dense(n):
    return tf.zeros(n)  #: tf.zeros = tf.zeros call
""",
        "a.py": """
from layers import Dense
x = Dense(3)
""",
    },
    "functools.partial": {
        "a.py": """
from functools import partial
from tensorflow.keras import layers
Conv = partial(layers.Conv2D, padding="same")  #: layers.Conv2D = tf.keras.layers.Conv2D reference
x = Conv(3, 1)
"""
    },
    "getattr with a literal and with a computed name": {
        "a.py": """
from tensorflow.keras import layers
A = getattr(layers, "ReLU")  #: getattr = tf.keras.layers.ReLU reference | layers = tf.keras.layers reference
B = getattr(layers, A.name)  #: layers = tf.keras.layers reference | A.name = tf.keras.layers.ReLU.name reference #? getattr(layers, A.name)
"""
    },
    "importlib with a literal name": {
        "a.py": """
import importlib
tf = importlib.import_module("tensorflow")
x = tf.nn.relu(1)  #: tf.nn.relu = tf.nn.relu call
"""
    },
    "f-strings, keywords, subscripts and defaults": {
        "a.py": """
import tensorflow as tf
a = f"{tf.reduce_sum(1)}"  #: tf.reduce_sum = tf.reduce_sum call
b = dict(x=tf.ones(1))  #: tf.ones = tf.ones call
c = [1][tf.rank(1)]  #: tf.rank = tf.rank call
def f(x=tf.zeros(1), *, y=tf.ones(2)):  #: tf.zeros = tf.zeros call | tf.ones = tf.ones call
    return x
"""
    },
    "a chain over several lines counts where it begins": {
        "a.py": """
import tensorflow as tf
x = (
    tf.data  #: tf.data = tf.data.Dataset.from_tensor_slices call
    .Dataset
    .from_tensor_slices([1])
)
"""
    },
    "columns count characters": {
        "a.py": """
import tensorflow as tf
s = "é😀"; x = tf.zeros(1)  #: tf.zeros = tf.zeros call
"""
    },
    "methods of a sequential model": {
        "a.py": """
from tensorflow import keras
m = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
m.add(keras.layers.Dense(1))  #: m.add = tf.keras.Sequential.add method | keras.layers.Dense = tf.keras.layers.Dense call
m.compile("adam")  #: m.compile = tf.keras.Model.compile method
h = m.fit(1, 2)  #: m.fit = tf.keras.Model.fit method
print(h.history["loss"])  #: h.history = tf.keras.callbacks.History.history reference
m.trainable = False  #: m.trainable = tf.keras.Model.trainable reference
"""
    },
    "a model from a factory in another file": {
        "models.py": """
from tensorflow import keras
def build():
    x = keras.Input((3,))  #: keras.Input = tf.keras.Input call
    return keras.Model(x, x)  #: keras.Model = tf.keras.Model call
""",
        "train.py": """
import models
from models import build as make
m = models.build()
m.fit(1)  #: m.fit = tf.keras.Model.fit method
make().summary()  #: make().summary = tf.keras.Model.summary method
""",
    },
    "a model passed to a function": {
        "a.py": """
from tensorflow import keras
def train(net, epochs):
    net.fit(1, epochs=epochs)  #: net.fit = tf.keras.Model.fit method
    return net
m = train(keras.Sequential([]), 3)  #: keras.Sequential = tf.keras.Sequential call
m.save("x")  #: m.save = tf.keras.Model.save method
"""
    },
    "a model in a tuple and one of several results": {
        "a.py": """
from tensorflow import keras
def build():
    return keras.Sequential(), 3  #: keras.Sequential = tf.keras.Sequential call
m, n = build()
m.predict(1)  #: m.predict = tf.keras.Model.predict method
n.predict(1)
"""
    },
    "models in a list": {
        "a.py": """
from tensorflow import keras
members = []
for i in range(3):
    members.append(keras.Sequential())  #: keras.Sequential = tf.keras.Sequential call
for m in members:
    m.evaluate(1)  #: m.evaluate = tf.keras.Model.evaluate method
"""
    },
    "attributes of a class": {
        "a.py": """
from tensorflow import keras
class Trainer:
    def run(self):
        self.model.fit(1)  #: self.model.fit = tf.keras.Model.fit method
    def __init__(self):
        self.model = None
        self.make()
    def make(self):
        self.model = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
Trainer().model.summary()  #: Trainer().model.summary = tf.keras.Model.summary method
"""
    },
    "a class of the project is a model": {
        "nets.py": """
import tensorflow as tf
class Base(tf.keras.Model):  #: tf.keras.Model = tf.keras.Model reference
    def helper(self):
        return self.layers  #: self.layers = tf.keras.Model.layers reference
""",
        "a.py": """
from nets import Base
class Net(Base):
    def call(self, inputs):
        return inputs.numpy()  #: inputs.numpy = tf.Tensor.numpy method
net = Net()
net.helper()
net.compile("sgd")  #: net.compile = tf.keras.Model.compile method
""",
    },
    "super reaches the framework": {
        "a.py": """
from keras import layers
class L(layers.Layer):  #: layers.Layer = tf.keras.layers.Layer reference
    def get_config(self):
        return super().get_config()  #: super().get_config = tf.keras.layers.Layer.get_config method
"""
    },
    "a dataset's methods": {
        "a.py": """
import tensorflow as tf
def parse(x):
    return x.numpy()  #: x.numpy = tf.Tensor.numpy method
ds = tf.data.Dataset.from_tensor_slices([1]).shuffle(3)  #: tf.data = tf.data.Dataset.from_tensor_slices call | tf.data.Dataset.from_tensor_slices([1]).shuffle = tf.data.Dataset.shuffle method
ds = ds.map(parse)  #: ds.map = tf.data.Dataset.map method
for batch in ds.batch(2):  #: ds.batch = tf.data.Dataset.batch method
    batch.numpy()  #: batch.numpy = tf.Tensor.numpy method
"""
    },
    "tapes, optimizers and variables": {
        "a.py": """
import tensorflow as tf
w = tf.Variable(1.0)  #: tf.Variable = tf.Variable call
o = tf.keras.optimizers.SGD()  #: tf.keras.optimizers.SGD = tf.keras.optimizers.SGD call
with tf.GradientTape() as tape:  #: tf.GradientTape = tf.GradientTape call
    y = w * w
g = tape.gradient(y, [w])  #: tape.gradient = tf.GradientTape.gradient method
o.apply_gradients(zip(g, [w]))  #: o.apply_gradients = tf.keras.optimizers.Optimizer.apply_gradients method
w.assign_add(1)  #: w.assign_add = tf.Variable.assign_add method
y.numpy()  #: y.numpy = tf.Tensor.numpy method
"""
    },
    "one gradient or several": {
        "a.py": """
import tensorflow as tf
w = tf.Variable(1.0)  #: tf.Variable = tf.Variable call
with tf.GradientTape() as tape:  #: tf.GradientTape = tf.GradientTape call
    y = w * w
one = tape.gradient(y, w)  #: tape.gradient = tf.GradientTape.gradient method
one.numpy()  #: one.numpy = tf.Tensor.numpy method
a, b = tape.gradient(y, [w, w])  #: tape.gradient = tf.GradientTape.gradient method
b.numpy()  #: b.numpy = tf.Tensor.numpy method
"""
    },
    "a static shape": {
        "a.py": """
import tensorflow as tf
x = tf.zeros((2, 3))  #: tf.zeros = tf.zeros call
n = x.shape.as_list()  #: x.shape.as_list = tf.TensorShape.as_list method
m = x.get_shape()[0]  #: x.get_shape = tf.Tensor.get_shape method
if x.shape[0] == 2: print(x.dtype)
"""
    },
    "methods of other libraries are not TensorFlow": {
        "a.py": """
import re
import keras
from sklearn.svm import SVC
p = re.compile("x")
c = SVC()
c.fit(1, 2)
s = "x".format(1)
m = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
"""
    },
    "classes of other libraries are not TensorFlow": {
        "a.py": """
import keras
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        self.register_buffer("a", x)
        return self.trainable_weights
net = Net()
net.compile()
net(1).detach().numpy()
m = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
"""
    },
    "a receiver nobody knows is undecided": {
        "a.py": """
import keras
import someone
def f(model):
    model.fit(1)  #? model.fit
someone.load().predict(2)  #? someone.load().predict
"""
    },
    "a model or something else is undecided": {
        "a.py": """
import keras, other
m = keras.Sequential() if other.flag else other.Model()  #: keras.Sequential = tf.keras.Sequential call
m.fit(1)  #? m.fit
"""
    },
    "a method kept in a variable": {
        "a.py": """
import keras
m = keras.Sequential()  #: keras.Sequential = tf.keras.Sequential call
run = m.fit  #: m.fit = tf.keras.Model.fit reference
run(1)  #: run = tf.keras.Model.fit method
"""
    },
    "modules that are handed around are undecided": {
        "a.py": """
import keras
def build(**kwargs):
    layers = kwargs["layers"]
    return layers.Dense(3)  #? layers.Dense
"""
    },
}


def expected(files: dict[str, str]) -> tuple[set[tuple[str, int, int, str, str]], set[tuple[str, int, str]]]:
    found, unknown = set(), set()
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if match := UNKNOWN.search(line):
                unknown.add((path, number, match[1].strip()))
            if match := LABEL.search(UNKNOWN.sub("", line)):
                for label in match[1].split(" | "):
                    code, name = (part.strip() for part in label.split(" = "))
                    api, use = name.split()
                    start = re.search(rf"(?<![\w.]){re.escape(code)}(?!\w)", line)
                    assert start is not None, line
                    found.add((path, number, start.start(), api, use))
    return found, unknown


@pytest.mark.parametrize("sentence", CASES)
def test_uses_are_found_where_they_are_and_nowhere_else(sentence: str, tmp_path: Path) -> None:
    for path, text in CASES[sentence].items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    project = resolve(read(tmp_path))
    resolutions = project.resolutions.values()
    found, unknown = expected(CASES[sentence])
    assert {(c.file, c.line, c.column, c.api, c.use) for r in resolutions for c in r.calls} == found
    assert {(u.file, u.line, u.text) for r in resolutions for u in r.unknown} == unknown
    for resolution in resolutions:  # the mapping by node and the list of calls say the same
        assert {id(call.node): call.api for call in resolution.calls} == {
            id(node): api for node, api in resolution.apis.items()
        }


def test_the_labelled_set_is_not_small() -> None:
    assert len(CASES) >= 40
    assert all(any(expected(files)) for files in CASES.values())


def test_places_are_those_that_the_parser_library_itself_computes(tmp_path: Path) -> None:
    text = """
import tensorflow as tf

class Net(tf.keras.Model):
\t\"\"\"Tabs, \\
\tand lines that go on.\"\"\"
\tdef call(self, x):  # comment
\t\tif x: y = (tf.nn.relu)(x); z = tf.zeros(
\t\t\t[tf.size(x)], dtype = tf . float32)
\t\treturn (y
\t\t\t+ z).numpy()
"""
    for end in ("\n", "\r\n"):
        (tmp_path / "a.py").write_bytes(text.replace("\n", end).encode())
        resolution = resolve(read(tmp_path)).resolutions["a.py"]
        ranges = MetadataWrapper(resolution.source.module, unsafe_skip_copy=True).resolve(PositionProvider)
        assert len(resolution.calls) == 6
        for call in resolution.calls:
            assert (call.line, call.column) == (ranges[call.node].start.line, ranges[call.node].start.column)
