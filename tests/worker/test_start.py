"""Workers as processes: how they import the user's files and how they end."""

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from migrator.worker import launch, loading


def start(tmp_path: Path, ref: str, **more: Any) -> dict[str, Any]:
    request = {"ref": ref, "folder": str(tmp_path), **more}
    return launch.run("calling", request, tmp_path / "out", timeout=more.get("limit", 60))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_plain_file_imports_its_neighbours_even_where_ours_have_the_same_names(tmp_path: Path) -> None:
    write(tmp_path / "src/files.py", "WIDTH = 7\n")
    write(tmp_path / "src/model.py", "import files\ndef build(): return files.WIDTH\n")
    assert start(tmp_path, "src/model.py:build")["value"] == "7"


def test_a_file_inside_a_package_keeps_its_relative_imports(tmp_path: Path) -> None:
    write(tmp_path / "pkg/__init__.py", "")
    write(tmp_path / "pkg/sub/__init__.py", "")
    write(tmp_path / "pkg/sizes.py", "WIDTH = 8\n")
    write(tmp_path / "pkg/sub/model.py", "from ..sizes import WIDTH\ndef build(): return (WIDTH, __name__)\n")
    assert start(tmp_path, "pkg/sub/model.py:build")["value"] == "(8, 'pkg.sub.model')"


def test_a_file_named_like_a_library_is_the_users_file(tmp_path: Path) -> None:
    write(tmp_path / "json.py", "def build(): return 'mine'\n")
    assert start(tmp_path, "json.py:build")["value"] == "mine"


def test_a_dotted_reference_reaches_a_static_method(tmp_path: Path) -> None:
    write(tmp_path / "pkg/__init__.py", "class Factory:\n    @staticmethod\n    def build(): return 3\n")
    assert start(tmp_path, "pkg:Factory.build")["value"] == "3"


@pytest.mark.parametrize("ref", ["nowhere.py:build", "model.py:nothing", "model.py", "no.such.module:build"])
def test_a_reference_to_nothing_is_missing_and_not_a_crash(tmp_path: Path, ref: str) -> None:
    write(tmp_path / "model.py", "def build(): return 1\n")
    assert start(tmp_path, ref)["status"] == "missing"


def test_a_callable_that_raises_leaves_its_message_and_last_lines(tmp_path: Path) -> None:
    write(tmp_path / "model.py", "def build():\n    raise RuntimeError('no weights here')\n")
    result = start(tmp_path, "model.py:build")
    assert result["status"] == "raised"
    assert result["message"] == "RuntimeError: no weights here"
    assert result["line"] == 2
    assert any("no weights here" in line for line in result["last_lines"])
    assert not any(str(launch.START.parent) in line for line in result["last_lines"]), "frames of ours are shown"


def test_a_callable_that_exits_is_a_result_too(tmp_path: Path) -> None:
    write(tmp_path / "model.py", "import sys\ndef build():\n    sys.exit(0)\n")
    assert start(tmp_path, "model.py:build")["status"] == "raised"


def test_a_process_that_dies_is_a_crash_with_the_last_lines(tmp_path: Path) -> None:
    text = "import os\ndef build():\n    print('going down', flush=True)\n    os._exit(7)\n"
    write(tmp_path / "model.py", text)
    result = start(tmp_path, "model.py:build")
    assert result["status"] == "crashed"
    assert "exit status 7" in result["message"]
    assert result["last_lines"] == ["going down"]


def test_a_process_that_hangs_is_ended_at_its_time_limit(tmp_path: Path) -> None:
    write(tmp_path / "model.py", "import time\ndef build():\n    time.sleep(60)\n")
    assert start(tmp_path, "model.py:build", limit=2)["status"] == "timeout"


def test_a_missing_framework_is_told_from_a_missing_import_of_the_users(tmp_path: Path) -> None:
    write(tmp_path / "model.py", "import no_such_framework\ndef build(): return 1\n")
    assert start(tmp_path, "model.py:build", frameworks=["no_such_framework"])["status"] == "framework"
    assert start(tmp_path, "model.py:build")["status"] == "raised"


def test_inputs_are_handed_over_as_the_signature_wants() -> None:
    assert loading.form_for(lambda x: x, 1, [None]) == "single"
    assert loading.form_for(lambda a, b: a, 2, [None, None]) == "args"
    assert loading.form_for(lambda a, b, scale=1.0: a, 2, [None, None]) == "args"
    assert loading.form_for(lambda inputs: inputs, 2, [None, None]) == "list"
    assert loading.form_for(lambda inputs: inputs, 2, ["a", "b"]) == "dict"
    assert loading.arranged([1, 2], ["a", "b"], "dict") == ([{"a": 1, "b": 2}], {})


def test_nested_outputs_are_leaves_with_paths_in_a_settled_order() -> None:
    assert loading.leaves({"b": [1, None, (2,)], "a": 3}) == [("a", 3), ("b.0", 1), ("b.2.0", 2)]


def test_a_module_is_named_by_its_outermost_package(tmp_path: Path) -> None:
    write(tmp_path / "a/__init__.py", "")
    write(tmp_path / "a/b/__init__.py", "")
    write(tmp_path / "a/b/c.py", "")
    assert loading.module_name(tmp_path / "a/b/c.py") == ("a.b.c", tmp_path)
    assert sys.path.count(str(tmp_path)) == 0


def test_a_worker_ends_with_whoever_started_it_and_never_waits_for_input(tmp_path: Path) -> None:
    write(
        tmp_path / "slow.py",
        "import os, pathlib, sys, time\n"
        "def build():\n"
        "    assert sys.stdin.read() == ''\n"
        f"    pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "    time.sleep(120)\n",
    )
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]);"
        "from migrator.worker import launch;"
        "launch.run('calling', {'ref': 'slow.py:build', 'folder': sys.argv[2]}, pathlib.Path(sys.argv[2], 'out'))"
    )
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen([sys.executable, "-c", code, str(root), str(tmp_path)])
    try:
        worker = int(_soon(lambda: (tmp_path / "pid").read_text()))
    finally:
        parent.kill()
        parent.wait()
    assert _soon(lambda: "gone" if not _runs(worker) else "") == "gone"


def _soon(ask: Callable[[], str], limit: float = 30) -> str:
    """The first answer that is not empty, asked again and again."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        with suppress(OSError):
            if answer := ask():
                return answer
        time.sleep(0.05)
    raise AssertionError("no answer in time")


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
