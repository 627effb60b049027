"""ReLU with its extras: a ceiling, a slope below zero, a threshold."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall, NotConstant


def relu(call: LayerCall) -> Step:
    """`F.relu`, `F.relu6`, `F.leaky_relu` or a clamp; several extras at once are left."""
    ceiling, slope, threshold = (call.constant(name) for name in ("max_value", "negative_slope", "threshold"))
    if any(isinstance(value, NotConstant) for value in (ceiling, slope, threshold)) or threshold not in (0, None):
        raise call.refuse("ReLU with a threshold, or with arguments that only a run can tell, is not handled yet")
    if slope and ceiling is not None:
        raise call.refuse("ReLU with both a slope and a ceiling is not handled yet")
    code, label = "F.relu({x})", "relu"
    if slope:
        code, label = f"F.leaky_relu({{x}}, {slope!r})", "leaky_relu"
    elif ceiling is not None:
        code = "F.relu6({x})" if ceiling == 6 else f"{{x}}.clamp(0.0, {ceiling!r})"
    return call.finish(Step(code, code, activation=label))
