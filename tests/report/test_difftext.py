"""Unified diffs taken apart: every line keeps its meaning, whatever it looks like."""

import pytest

from migrator.facts import FileResult, Rewritten
from migrator.report.diff import unified
from migrator.report.difftext import parse


def changed(path, before, after):
    return FileResult(path, "full", "", before, after)


def parsed(*files, created=None):
    return parse(unified(Rewritten(tuple(files), (), (), created or {}, ())))


def test_an_empty_diff_has_no_files():
    assert parse("") == []


def test_counts_are_those_of_the_change():
    [file] = parsed(changed("a.py", "one\ntwo\nthree\n", "one\n2\n2.5\nthree\n"))
    assert (file.path, file.added, file.removed) == ("a.py", 2, 1)


def test_content_that_looks_like_a_header_stays_content():
    before, after = "-- a\n++ b\n@@ -1 +1 @@\nx\n", "-- a\ny\n"
    [file] = parsed(changed("a.py", before, after))
    assert file.removed == 3
    assert [line.text for line in file.lines if line.kind == "removed"] == ["-++ b", "-@@ -1 +1 @@", "-x"]


def test_a_removed_line_that_starts_with_two_dashes_opens_no_file():
    files = parsed(changed("a.py", "-- old\nx\n", "x\n"), changed("b.py", "1\n", "2\n"))
    assert [file.path for file in files] == ["a.py", "b.py"]


def test_a_created_file_has_its_own_name():
    [file] = parsed(created={"torch_support.py": "import torch\n"})
    assert (file.path, file.added, file.removed) == ("torch_support.py", 1, 0)


def test_a_file_without_final_newline_keeps_its_note():
    [file] = parsed(changed("a.py", "x", "y"))
    assert (file.added, file.removed) == (1, 1)


@pytest.mark.parametrize("text", ["nonsense", "@@ -1 +1 @@\n-a", "--- a/x\n", "--- a/x\n+++ b/x\n@@ broken @@\n-a\n"])
def test_text_that_is_no_diff_is_not_shown_as_one(text):
    assert all(not file.added and not file.removed for file in parse(text))
