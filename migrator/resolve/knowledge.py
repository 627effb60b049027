"""What TensorFlow's own names give back: the kind of object a call makes, the members each kind has.

Kinds are canonical names of the class whose methods an object answers to: every model is a `tf.keras.Model`, every
layer a `tf.keras.layers.Layer`. An object of a class without an entry here has its class as its kind.
"""

from __future__ import annotations

import re
import sys

from migrator.resolve.canonical import words
from migrator.resolve.exports import EXPORTS
from migrator.resolve.values import FOREIGN, UNKNOWN, Instance, Many, Value

MODEL, LAYER, TENSOR, VARIABLE = "tf.keras.Model", "tf.keras.layers.Layer", "tf.Tensor", "tf.Variable"
OPTIMIZER, LOSS, METRIC = "tf.keras.optimizers.Optimizer", "tf.keras.losses.Loss", "tf.keras.metrics.Metric"
CALLBACK, HISTORY = "tf.keras.callbacks.Callback", "tf.keras.callbacks.History"
SHAPE = "tf.TensorShape"
DATASET, TAPE, MODULE = "tf.data.Dataset", "tf.GradientTape", "tf.Module"
SCHEDULE = "tf.keras.optimizers.schedules.LearningRateSchedule"
CALLABLE = frozenset((MODEL, LAYER, LOSS, METRIC, SCHEDULE, MODULE))

_LAYER_MEMBERS = (
    "add_loss add_metric add_weight add_variable build call compute_mask compute_output_shape count_params get_config "
    "from_config get_weights set_weights input output input_shape output_shape input_spec losses metrics name weights "
    "variables trainable trainable_variables trainable_weights non_trainable_variables non_trainable_weights "
    "updates add_update get_input_at get_output_at dynamic stateful supports_masking dtype_policy compute_dtype "
    "variable_dtype build_from_config get_build_config"
)
_MODEL_MEMBERS = _LAYER_MEMBERS + (
    " compile compiled_loss compiled_metrics compute_loss compute_metrics evaluate evaluate_generator export fit "
    "fit_generator get_compile_config get_layer get_metrics_result inputs outputs layers load_weights loss "
    "make_predict_function make_test_function make_train_function metrics_names optimizer predict predict_classes "
    "predict_generator predict_on_batch predict_proba predict_step reset_metrics reset_states run_eagerly save "
    "save_weights save_spec stop_training summary test_on_batch test_step to_json to_yaml total_loss train_function "
    "train_on_batch train_step input_names output_names state_updates history distribute_strategy"
)
_TENSOR_MEMBERS = "numpy get_shape set_shape eval experimental_ref ref to_tensor to_list values row_splits row_lengths"
_DATASET_MEMBERS = (
    "apply as_numpy_iterator batch bucket_by_sequence_length cache cardinality choose_from_datasets concatenate "
    "counter element_spec enumerate filter flat_map from_generator from_sparse_tensor_slices from_tensor_slices "
    "from_tensors get_single_element group_by_window interleave ignore_errors list_files load "
    "make_initializable_iterator "
    "make_one_shot_iterator map map_and_batch options output_shapes output_types padded_batch prefetch ragged_batch "
    "random range rebatch reduce rejection_resample repeat sample_from_datasets save scan shard shuffle skip snapshot "
    "sparse_batch take take_while unbatch unique window with_options zip class_names file_paths"
)
_METRIC_MEMBERS = (
    "update_state result reset_state reset_states add_weight add_variable variables weights get_config name"
)
_OPTIMIZER_MEMBERS = (
    "apply apply_gradients minimize compute_gradients get_gradients get_updates learning_rate lr iterations variables "
    "weights get_weights set_weights get_config from_config build get_scaled_loss get_unscaled_gradients loss_scale "
    "scale_loss add_slot get_slot add_variable assign assign_add assign_sub exclude_from_weight_decay update_step "
    "finalize_variable_values inner_optimizer momentum beta_1 beta_2 epsilon decay clipnorm clipvalue"
)
MEMBERS: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        MODEL: _MODEL_MEMBERS,
        LAYER: _LAYER_MEMBERS,
        TENSOR: _TENSOR_MEMBERS,
        VARIABLE: _TENSOR_MEMBERS
        + " assign assign_add assign_sub value read_value initialized_value initializer trainable scatter_nd_update "
        "scatter_update scatter_add scatter_sub scatter_nd_add gather_nd sparse_read load",
        OPTIMIZER: _OPTIMIZER_MEMBERS,
        LOSS: "call get_config from_config reduction name",
        METRIC: _METRIC_MEMBERS,
        CALLBACK: "model params set_model set_params on_batch_begin on_batch_end on_epoch_begin on_epoch_end "
        "on_train_begin on_train_end on_train_batch_begin on_train_batch_end on_test_begin on_test_end "
        "on_test_batch_begin on_test_batch_end on_predict_begin on_predict_end best stopped_epoch",
        HISTORY: "history epoch params model",
        DATASET: _DATASET_MEMBERS,
        TAPE: "gradient jacobian batch_jacobian watch watched_variables stop_recording reset",
        MODULE: "variables trainable_variables submodules name name_scope with_name_scope",
        SCHEDULE: "get_config from_config",
        SHAPE: "as_list as_proto assert_has_rank assert_is_compatible_with assert_is_fully_defined dims concatenate "
        "is_compatible_with is_fully_defined merge_with ndims num_elements rank with_rank with_rank_at_least",
    }.items()
}
SEQUENTIAL_ONLY = frozenset(("add", "pop"))

# What a member gives: read, or called where it is a method.
GIVES: dict[str, str] = {
    f"{MODEL}.optimizer": OPTIMIZER, f"{MODEL}.get_layer": LAYER, f"{MODEL}.fit": HISTORY,
    f"{MODEL}.fit_generator": HISTORY, f"{MODEL}.history": HISTORY, f"{CALLBACK}.model": MODEL,
    f"{MODEL}.predict_on_batch": "foreign", f"{MODEL}.predict": "foreign", f"{MODEL}.evaluate": "foreign",
    f"{HISTORY}.history": "foreign", f"{TENSOR}.numpy": "foreign", f"{VARIABLE}.numpy": "foreign",
    f"{DATASET}.as_numpy_iterator": "foreign", f"{MODEL}.get_config": "foreign", f"{LAYER}.get_config": "foreign",
    f"{MODEL}.get_weights": "foreign", f"{LAYER}.get_weights": "foreign", f"{LAYER}.add_weight": VARIABLE,
    f"{MODEL}.add_weight": VARIABLE, f"{LAYER}.add_variable": VARIABLE, f"{METRIC}.add_weight": VARIABLE,
    f"{SHAPE}.as_list": "foreign", f"{TENSOR}.get_shape": SHAPE, f"{VARIABLE}.get_shape": SHAPE,
    f"{METRIC}.result": TENSOR, f"{METRIC}.update_state": TENSOR, f"{VARIABLE}.value": TENSOR,
    f"{VARIABLE}.read_value": TENSOR, f"{VARIABLE}.assign": VARIABLE, f"{VARIABLE}.assign_add": VARIABLE,
    f"{VARIABLE}.assign_sub": VARIABLE, f"{TAPE}.jacobian": TENSOR, f"{TAPE}.batch_jacobian": TENSOR,
    f"{OPTIMIZER}.get_scaled_loss": TENSOR, f"{MODEL}.compiled_loss": LOSS, f"{MODEL}.loss": LOSS,
    f"{MODEL}.compute_loss": TENSOR, f"{MODEL}.call": TENSOR, f"{LAYER}.call": TENSOR,
    f"{OPTIMIZER}.learning_rate": VARIABLE, f"{OPTIMIZER}.lr": VARIABLE, f"{OPTIMIZER}.iterations": VARIABLE,
    f"{MODEL}.summary": "foreign", f"{MODEL}.count_params": "foreign", f"{LAYER}.count_params": "foreign",
    f"{MODEL}.name": "foreign", f"{LAYER}.name": "foreign", f"{TENSOR}.eval": "foreign",
    f"{DATASET}.cardinality": TENSOR, f"{DATASET}.reduce": TENSOR, f"{DATASET}.get_single_element": TENSOR,
    f"{DATASET}.class_names": "foreign", f"{DATASET}.element_spec": "foreign", f"{LOSS}.call": TENSOR,
    f"{MODEL}.train_step": "foreign", f"{MODEL}.test_step": "foreign", f"{MODEL}.predict_step": TENSOR,
    f"{MODEL}.train_on_batch": "foreign", f"{MODEL}.test_on_batch": "foreign", f"{MODEL}.to_json": "foreign",
}  # fmt: skip
for _kind in (MODEL, LAYER):
    GIVES.update({f"{_kind}.{name}": TENSOR for name in ("input", "output")})
LISTS: dict[str, str] = {f"{MODEL}.layers": LAYER, f"{MODEL}.metrics": METRIC, f"{LAYER}.metrics": METRIC}
LISTS |= {f"{MODEL}.inputs": TENSOR, f"{MODEL}.outputs": TENSOR, f"{TAPE}.gradient": TENSOR}
for _kind in (MODEL, LAYER, MODULE, OPTIMIZER, METRIC):
    LISTS |= {
        f"{_kind}.{name}": VARIABLE
        for name in words(
            "weights variables trainable_variables trainable_weights", "non_trainable_variables non_trainable_weights"
        )
    }
    LISTS[f"{_kind}.losses"] = TENSOR
# Members that are read; all others are methods, and reading one without calling it gives the method.
READ = frozenset(LISTS) - {f"{TAPE}.gradient"} | {
    f"{MODEL}.optimizer", f"{MODEL}.history", f"{CALLBACK}.model", f"{HISTORY}.history", f"{MODEL}.name",
    f"{LAYER}.name", f"{MODEL}.input", f"{MODEL}.output", f"{LAYER}.input", f"{LAYER}.output", f"{MODEL}.loss",
    f"{MODEL}.compiled_loss", f"{OPTIMIZER}.learning_rate", f"{OPTIMIZER}.lr", f"{OPTIMIZER}.iterations",
    f"{DATASET}.class_names", f"{DATASET}.element_spec",
}  # fmt: skip
DATASET_ENDS = words("as_numpy_iterator cardinality class_names element_spec file_paths get_single_element")
TAKES_FUNCTION = frozenset(f"{DATASET}.{name}" for name in ("map", "flat_map", "filter", "interleave", "map_and_batch"))

_MODELS = re.compile(
    r"tf\.keras\.(Model|Sequential|models\.(Model|Sequential|Functional|load_model|clone_model|model_from_\w+)"
    r"|applications\.(\w+\.)?[A-Z]\w*|saving\.load_model|engine\.(training|sequential)\.\w+|Functional)$"
)
_CLASSES = (  # where a class lives -> what its objects are
    (re.compile(r"tf\.keras\.Input$|tf\.keras\.layers\.Input$"), TENSOR),
    (re.compile(r"tf\.keras\.(layers|legacy_tf_layers)\.(\w+\.)*[A-Z]\w*$|tf\.keras\.Layer$"), LAYER),
    (re.compile(r"tf\.keras\.optimizers\.(\w+\.)?schedules\.[A-Z]\w*$"), SCHEDULE),
    (re.compile(r"tf\.keras\.optimizers\.(\w+\.)*([A-Z]\w*|get)$|tf(\.compat\.v1)?\.train\.\w+Optimizer$"), OPTIMIZER),
    (re.compile(r"tf\.keras\.mixed_precision\.(experimental\.)?LossScaleOptimizer$"), OPTIMIZER),
    (re.compile(r"tf\.keras\.losses\.[A-Z]\w*$|tf\.keras\.Loss$"), LOSS),
    (re.compile(r"tf\.keras\.metrics\.[A-Z]\w*$|tf\.keras\.Metric$"), METRIC),
    (re.compile(r"tf\.keras\.callbacks\.History$"), HISTORY),
    (re.compile(r"tf\.keras\.callbacks\.[A-Z]\w*$"), CALLBACK),
    (re.compile(r"tf\.data\.(experimental\.)?\w*Dataset$|tf\.compat\.v1\.data\.\w*Dataset$"), DATASET),
    (re.compile(r"tf\.keras\.(utils|preprocessing)\.\w+_dataset_from_directory$"), DATASET),
    (re.compile(r"tf(\.compat\.v1)?\.Variable$|tf(\.compat\.v1)?\.get_variable$|tf\.keras\.Variable$"), VARIABLE),
    (re.compile(r"tf\.GradientTape$"), TAPE),
    (re.compile(r"tf\.Module$"), MODULE),
)
_TENSORS = re.compile(
    r"tf(\.compat\.v1)?\.(math|nn|image|linalg|random|strings|signal|bitwise|sparse|ragged|quantization|audio)\.\w+$"
    r"|tf\.keras\.(ops|activations|losses|metrics|random|utils\.to_categorical)(\.\w+)*\.?[a-z]\w*$"
    r"|tf\.keras\.layers\.[a-z]\w*$|tf\.keras\.(ops|random)\.\w+$|tf\.io\.(decode|read_file|parse)\w*$"
    r"|tf(\.compat\.v1)?\.([a-z]+_?)+[a-z0-9]*$|tf(\.compat\.v1)?\.layers\.\w+$"
)
_TUPLES = words(
    "tf.split tf.unstack tf.nn.moments tf.meshgrid tf.nn.top_k tf.math.top_k tf.unique tf.linalg.svd tf.linalg.qr "
    "tf.linalg.eigh tf.gradients tf.clip_by_global_norm tf.nn.max_pool_with_argmax tf.keras.ops.split "
    "tf.keras.ops.unstack tf.keras.ops.moments tf.keras.ops.top_k tf.dynamic_partition tf.where"
)
_NOT_TENSORS = words(
    "tf.function tf.device tf.name_scope tf.control_dependencies tf.init_scope tf.no_gradient_wrapper "
    "tf.custom_gradient tf.no_op tf.group tf.random_seed tf.py_function tf.numpy_function tf.while_loop tf.cond "
    "tf.case tf.switch_case tf.map_fn tf.scan tf.foldl tf.foldr tf.nest tf.load_library tf.load_op_library tf.print "
    "tf.recompute_grad tf.type_spec_from_value tf.is_tensor tf.executing_eagerly tf.get_logger tf.get_static_value "
    "tf.autodiff tf.random.set_seed tf.keras.losses.get tf.keras.losses.deserialize tf.keras.losses.serialize "
    "tf.keras.metrics.get tf.keras.activations.get tf.keras.activations.serialize tf.keras.activations.deserialize "
    "tf.keras.metrics.deserialize tf.keras.layers.deserialize tf.keras.layers.serialize "
    "tf.compat.v1.global_variables_initializer tf.compat.v1.disable_eager_execution tf.compat.v1.Session "
    "tf.global_variables_initializer tf.variable_scope tf.compat.v1.variable_scope tf.enable_eager_execution "
    "tf.disable_v2_behavior tf.compat.v1.disable_v2_behavior tf.set_random_seed tf.as_dtype tf.ragged.constant"
)
_BACKEND = re.compile(r"tf\.keras\.backend\.\w+$")
# Functions whose names say that they give settings, answers about types, sizes, or nothing.
_SETTINGS = re.compile(
    r"(is|has|get|set|enable|disable|clear|reset|manual|register|serialize|deserialize)_\w+$"
    r"|(floatx|epsilon|backend|image_data_format|image_dim_ordering|int_shape|count_params|ndim|dtype|learning_phase"
    r"|batch_get_value|batch_set_value|rank|name_scope|standardize_\w+|result_type)$"
)


def kind_of_class(name: str) -> str:
    """What objects of a TensorFlow class are; the class itself where nothing more general is known."""
    if _MODELS.match(name):
        return MODEL
    for pattern, kind in _CLASSES:
        if pattern.match(name):
            return kind
    return name if name.rpartition(".")[2][:1].isupper() else ""


def result_of(name: str) -> Value:
    """What calling the API `name` gives."""
    kind = kind_of_class(name)
    if kind:
        return Instance(kind)
    if name in _NOT_TENSORS or _SETTINGS.match(name.rpartition(".")[2]):
        return UNKNOWN
    if name in _TUPLES:
        return Many(Instance(TENSOR))
    if name.startswith("tf.data.Dataset.") and name.rpartition(".")[2] not in DATASET_ENDS:
        return Instance(DATASET)
    if _TENSORS.match(name) or _BACKEND.match(name):
        return Instance(TENSOR)
    return UNKNOWN


def member_of(kind: str, name: str) -> str | None:
    """The canonical name of a member of an object; None where the kind has no such member."""
    if kind == MODEL and name in SEQUENTIAL_ONLY:
        return f"tf.keras.Sequential.{name}"
    if kind in MEMBERS:
        return f"{kind}.{name}" if name in MEMBERS[kind] else None
    return f"{kind}.{name}" if kind and not name.startswith("_") else None


def given_by(member: str, kind: str) -> Value:
    """What reading or calling the member of an object gives."""
    if kind == DATASET and member.rpartition(".")[2] not in DATASET_ENDS | {"reduce"}:
        return Instance(DATASET)
    if member in LISTS:
        return Many(Instance(LISTS[member]))
    gives = GIVES.get(member)
    if gives == "foreign":
        return FOREIGN
    return Instance(gives) if gives else UNKNOWN


# What the framework itself passes to methods that a class of the project overrides: method -> positional parameters.
PROTOCOL: dict[tuple[str, str], tuple[str, ...]] = {
    (LAYER, "call"): (TENSOR,),
    (MODEL, "call"): (TENSOR,),
    (MODEL, "train_step"): (TENSOR,),
    (MODEL, "test_step"): (TENSOR,),
    (MODEL, "predict_step"): (TENSOR,),
    (LOSS, "call"): (TENSOR, TENSOR),
    (METRIC, "update_state"): (TENSOR, TENSOR),
    (SCHEDULE, "__call__"): (TENSOR,),
}
# Methods that hardly anything but TensorFlow has: on an object nobody knows they are reported as undecided.
TELLING = words(
    "fit fit_generator compile evaluate evaluate_generator predict predict_generator predict_on_batch train_on_batch "
    "test_on_batch apply_gradients load_weights save_weights get_layer get_weights set_weights numpy assign_add "
    "assign_sub prefetch padded_batch as_numpy_iterator get_shape set_shape as_list trainable_variables "
    "trainable_weights non_trainable_weights non_trainable_variables update_state reset_states "
    "experimental_distribute_dataset"
)
# Likewise for modules that a project hands around: attributes and names by which they are known.
KERAS_CLASSES = frozenset(
    name
    for module in ("layers", "models", "optimizers", "losses", "metrics", "callbacks")
    for name in EXPORTS[module]
    if name[:1].isupper() and not name.isupper() and any(letter.islower() for letter in name[2:])
) - {"Layer", "Model", "Input", "Callback", "Loss", "Metric", "Optimizer", "Permute", "Average", "Mean", "Sum", "Add"}
MODULE_NAME = re.compile(
    r"(self\.)?_?(tf|keras|K|layers|models|backend|keras_utils|optimizers|regularizers|initializers)$"
)
NOT_TENSORFLOW = words(
    "numpy scipy sklearn pandas torch torchvision torchaudio xgboost lightgbm catboost matplotlib PIL cv2 statsmodels "
    "jax flax mxnet skimage nltk spacy gensim seaborn tqdm h5py yaml requests absl click pytest builtins"
)


def is_foreign(name: str) -> bool:
    """Whether what a name of another library gives is surely nothing of TensorFlow's."""
    root = name.partition(".")[0]
    return root in NOT_TENSORFLOW or root in sys.stdlib_module_names
