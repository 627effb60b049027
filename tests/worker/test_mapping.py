"""Which tensor each variable becomes, from facts alone, and how arrays are laid out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from migrator.worker import layouts, mapping


def dense(name: str, inputs: int, outputs: int, owner: int) -> list[dict[str, Any]]:
    common = {"layer": name, "class": "Dense", "owner": owner, "trainable": True}
    return [
        {**common, "path": f"{name}/kernel", "role": "kernel", "shape": [inputs, outputs]},
        {**common, "path": f"{name}/bias", "role": "bias", "shape": [outputs]},
    ]


def tensor(module: str, role: str, shape: list[int], **more: Any) -> dict[str, Any]:
    facts = {"path": f"{module}.{role}", "module": module, "class": "Linear", "library": True, "role": role}
    return {**facts, "shape": shape, "trainable": True, "buffer": False, "constant": None, **more}


def linear(name: str, inputs: int, outputs: int) -> list[dict[str, Any]]:
    return [tensor(name, "weight", [outputs, inputs]), tensor(name, "bias", [outputs])]


def pairs(entries: list[dict[str, Any]]) -> dict[str, str]:
    return {entry["path"]: entry["tensor"] for entry in entries}


def test_shapes_alone_settle_layers_that_differ() -> None:
    variables = dense("a", 3, 4, 0) + dense("b", 4, 5, 1)
    (found,) = mapping.hypotheses(variables, linear("late", 4, 5) + linear("early", 3, 4))
    assert pairs(found)["a/kernel"] == "early.weight"
    assert {entry["layout"] for entry in found} == {"io->oi", "as is"}


def test_names_come_before_the_order_where_shapes_tie() -> None:
    variables = dense("query", 4, 4, 0) + dense("key", 4, 4, 1)
    first, second = mapping.hypotheses(variables, linear("key", 4, 4) + linear("query", 4, 4))
    assert pairs(first)["query/kernel"] == "query.weight"
    assert pairs(second)["query/kernel"] == "key.weight"


def test_the_order_of_execution_is_tried_too() -> None:
    variables = dense("a", 4, 4, 0) + dense("b", 4, 4, 1)
    tensors = linear("second", 4, 4) + linear("first", 4, 4)
    tried = mapping.hypotheses(variables, tensors, ["a", "b"], ["first", "second"])
    assert [pairs(each)["a/kernel"] for each in tried] == ["second.weight", "first.weight"]


def test_an_own_square_kernel_may_be_laid_out_either_way() -> None:
    variables = dense("a", 4, 4, 0)
    own = [tensor("a", "kernel", [4, 4], library=False), tensor("a", "bias", [4], library=False)]
    tried = mapping.hypotheses(variables, own)
    assert [each[0]["layout"] for each in tried] == ["io->oi", "as is"]


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ([tensor("x", "weight", [4, 3])], "a/bias"),
        (linear("x", 3, 4) + linear("y", 3, 4), "no counterpart"),
        (linear("x", 4, 3), "x.weight"),
    ],
    ids=["a bias dropped", "a layer too many", "the layer turned round"],
)
def test_what_is_left_over_on_either_side_is_an_error(tensors: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(mapping.Unmatched, match=said):
        mapping.hypotheses(dense("a", 3, 4, 0), tensors)


def test_counters_constants_and_frozen_zeros_need_no_variable() -> None:
    extra = [
        tensor("n", "num_batches_tracked", [], buffer=True, trainable=False),
        tensor("p", "table", [9], buffer=True, trainable=False),
        tensor("r", "bias_hh_l0", [8], trainable=False, constant=0.0),
    ]
    (found,) = mapping.hypotheses(dense("a", 3, 4, 0), linear("a", 3, 4) + extra)
    assert len(found) == 2


def test_moving_statistics_need_one() -> None:
    extra = [tensor("n", "running_mean", [4], buffer=True, trainable=False)]
    with pytest.raises(mapping.Unmatched, match=r"n\.running_mean"):
        mapping.hypotheses(dense("a", 3, 4, 0), linear("a", 3, 4) + extra)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("io->oi", (3, 4)),
        ("lio->oil", (3, 4, 5)),
        ("hwio->oihw", (2, 3, 4, 5)),
        ("dhwio->oidhw", (2, 3, 4, 5, 6)),
        ("hwoi->iohw", (2, 3, 4, 5)),
        ("lcm->(cm)1l", (3, 4, 2)),
        ("hwcm->(cm)1hw", (2, 3, 4, 5)),
        ("11c->c", (1, 1, 6)),
    ],
)
def test_a_layout_brings_an_array_there_and_back(name: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape)).reshape(shape)
    layout = layouts.LAYOUTS[name]
    there = layout.forward(array)
    assert there.shape == layout.shape(shape)
    assert np.array_equal(layout.backward(there, shape), array)


def test_an_array_of_another_rank_fits_no_layout() -> None:
    assert layouts.LAYOUTS["io->oi"].shape((2, 3, 4)) == (-1,)
    assert layouts.LAYOUTS["11c->c"].shape((2, 1, 4)) == (-1,)
