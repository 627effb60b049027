"""The page: complete, self-contained, escaped, honest about what is missing."""

import importlib.util
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from migrator.errors import MigrateError
from migrator.report import folder, html

_spec = importlib.util.spec_from_file_location("sample", Path(__file__).with_name("sample.py"))
sample = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sample)

HOSTILE = """<script>alert("x")</script>'&amp;{{ 7*7 }}<img src=http://evil.example/x.png onerror=y>"""
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Reader(HTMLParser):
    """Tags with their attributes, the text, the ids, and whether every tag was closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.open, self.unbalanced = [], [], [], []
        self.feed(text)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    def all(self, name):
        return [attributes[name] for _, attributes in self.tags if name in attributes]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole")
    sample.write_all(place)
    return Reader(html.write(place).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    sample.write_all(place, HOSTILE)
    return Reader(html.write(place).read_text(encoding="utf-8"))


def test_every_tag_is_closed(page):
    assert page.unbalanced == []
    assert page.open == []


def test_it_loads_nothing_from_anywhere(page):
    assert not {"script", "link", "iframe", "object", "embed", "img"} & {tag for tag, _ in page.tags}
    targets = page.all("src") + page.all("href") + page.all("xlink:href")
    assert targets
    assert all(target.startswith("#") for target in targets)
    styles = page.all("style") + re.findall(r"url\(([^)]*)\)", " ".join(page.all("clip-path") + page.all("style")))
    assert not [style for style in styles if "http" in style or "@import" in style]


def test_the_browser_is_told_to_load_nothing(page):
    policies = [a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_ids_are_unique_and_every_inner_link_has_its_target(page):
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in page.all("href") + page.all("xlink:href")} <= set(ids)


def test_hostile_names_are_text_and_nothing_else(hostile):
    assert "script" not in {tag for tag, _ in hostile.tags}
    assert "img" not in {tag for tag, _ in hostile.tags}
    assert not [attributes for _, attributes in hostile.tags if "onerror" in attributes]
    assert "{{ 7*7 }}" in hostile.text
    assert hostile.unbalanced == []


def test_hostile_names_are_shown_as_they_are_in_every_section(hostile, page):
    mark = "alert("
    for section in ("Assessment", "Rewrite", "Parity", "Versions and machine"):
        assert mark in _section(hostile, section), section
        assert mark not in _section(page, section)


def _section(page, name):
    """The text from a section's heading to the next section's."""
    names = [title for _, title in html.SECTIONS]
    start = page.text.rindex(f" {name} ")
    after = [page.text.rindex(f" {other} ") for other in names[names.index(name) + 1 :]]
    return page.text[start : min(after, default=len(page.text))]


@pytest.mark.parametrize(
    "words",
    [
        "2 uses of TensorFlow in 3 files",
        "2.5 hours",
        "Advice: pilot",
        "tensorflow is not locked",
        "no rule for tf.custom",
        "batchnorm-variance",
        "training was not asked for",
        "tensorflow - torch: 2 × 10⁻⁷",
        "the trained state changes by 2 × 10⁻⁵",
        "4.1 × 10⁻¹⁶",
        "97.00%",
        "97.10%",
        "2.00×",
        "18,235 steps",
        "210 MiB",
        "rss",
        "torch_support.py",
        "1 December 2026, 04:05 UTC",
        "3.11.7",
    ],
)
def test_a_whole_run_fills_every_section(page, words):
    assert words in page.text


def test_a_full_page_says_nowhere_that_something_was_not_found(page):
    assert "was not found" not in page.text


def test_verdicts_are_words_and_not_only_colours(page):
    parity = _section(page, "Parity")
    assert all(word in parity for word in ("pass", "fail", "skipped", "unsupported"))


def test_curves_have_a_description_for_those_who_cannot_see_them(page):
    described = [a["aria-label"] for tag, a in page.tags if tag == "svg"]
    assert len(described) == 2
    assert all("TensorFlow ends at" in text and "PyTorch ends at" in text for text in described)


def test_the_diff_shows_both_signs(page):
    lines = [a["class"] for tag, a in page.tags if tag == "span" and a.get("class") in ("added", "removed")]
    assert lines.count("added") == 3
    assert lines.count("removed") == 2


ONLY = ["assess.json", "rewrite.json", "rewrite.diff", "parity.json", "training.json", "bench.json", "run.json"]


@pytest.mark.parametrize("name", ONLY)
def test_one_result_alone_makes_a_page_that_says_what_is_missing(tmp_path, name):
    whole = tmp_path / "whole"
    alone = tmp_path / "alone"
    whole.mkdir()
    alone.mkdir()
    sample.write_all(whole)
    (alone / name).write_bytes((whole / name).read_bytes())
    text = Reader(html.write(alone).read_text(encoding="utf-8")).text
    missing = {other for other in ONLY if other != name and other != "run.json"}
    assert {other for other in missing if f"{other} was not found" not in text.replace(" was", " was")} == set()


def test_a_pair_that_was_not_measured_says_why(tmp_path):
    from migrator.facts import BenchResult
    from migrator.report.bench_json import to_json

    folder.write_json(tmp_path / "bench.json", to_json([BenchResult("net", (), {}, "Not measured: parity says fail.")]))
    assert "Not measured: parity says fail." in Reader(html.write(tmp_path).read_text(encoding="utf-8")).text


def test_a_variant_that_is_missing_says_why(tmp_path):
    from dataclasses import replace

    from migrator.report.bench_json import to_json

    [whole] = sample.bench()
    result = replace(whole, rows=whole.rows[:2], missing={"torch compiled": "There is no C++ compiler."})
    folder.write_json(tmp_path / "bench.json", to_json([result]))
    text = Reader(html.write(tmp_path).read_text(encoding="utf-8")).text
    assert "Not available here: torch compiled. There is no C++ compiler." in text


def test_infinite_errors_are_written_as_json_that_everybody_reads(tmp_path):
    folder.write_json(tmp_path / "a.json", {"error": float("inf"), "nested": [float("nan"), 1.0]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"error": None, "nested": [None, 1.0]}


def test_an_empty_folder_is_refused_with_what_it_would_need(tmp_path):
    with pytest.raises(MigrateError, match=r"no results in .*assess\.json"):
        html.write(tmp_path)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": "migrate.bench/2"}'], ids=["broken", "a list", "another version"]
)
def test_a_result_that_cannot_be_read_is_named(tmp_path, text):
    (tmp_path / "bench.json").write_text(text)
    with pytest.raises(MigrateError, match=r"bench\.json"):
        html.write(tmp_path)


def test_a_result_that_lacks_a_part_is_an_error_and_no_half_page(tmp_path):
    folder.write_json(tmp_path / "parity.json", {"schema": "migrate.parity/1", "pairs": [{"name": "x"}]})
    with pytest.raises(MigrateError, match="lacks a part"):
        html.write(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_figures_from_a_busy_machine_carry_a_warning(tmp_path, page):
    from dataclasses import replace

    from migrator.report.bench_json import to_json

    [whole] = sample.bench()
    busy = replace(whole, machine={**whole.machine, "others": 0.42})
    folder.write_json(tmp_path / "bench.json", to_json([busy]))
    text = Reader(html.write(tmp_path).read_text(encoding="utf-8")).text
    assert "Other programs took 42% of the machine" in text
    assert "Other programs took" not in page.text
