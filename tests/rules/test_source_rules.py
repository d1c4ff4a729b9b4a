"""Each rule holds for this tree, and finds each of its seeded violations guilty."""

import pathlib

import bazel_files
import category_rules
import class_sizes
import conventions
import doctor_lines
import glossary_words
import include_arrows
import launcher_variables
import licence_rules
import named_things
import page_rooms
import pages
import palette
import pytest
import python_package
import requirement_rules
import schema_rules
import wording

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = include_arrows.RULES + bazel_files.RULES + class_sizes.RULES + conventions.RULES + doctor_lines.RULES + launcher_variables.RULES + category_rules.RULES + page_rooms.RULES + pages.RULES + palette.RULES + python_package.RULES + schema_rules.RULES + licence_rules.RULES + requirement_rules.RULES + wording.RULES + named_things.RULES + glossary_words.RULES
SEEDS = [pytest.param(rule, seed, id=f"{rule.name}-{number}") for rule in RULES for number, seed in enumerate(rule.seeds)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_holds(rule):
    violations = list(rule.check(ROOT))
    assert not violations, f"{rule.check.__doc__}\n" + "\n".join(violations)


@pytest.mark.parametrize("rule, seed", SEEDS)
def test_finds_its_seeded_violation(rule, seed, tmp_path):
    for path, text in seed.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert list(rule.check(tmp_path)), f"{rule.name} did not notice {seed}"


@pytest.mark.parametrize("seed", schema_rules.HOLDS)
def test_a_schema_may_lose_what_it_reserves(seed, tmp_path):
    for path, text in seed.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert not list(schema_rules.numbers_keep_their_meaning(tmp_path))


def test_the_rules_see_the_tree():
    """A rule over no files would hold for ever."""
    seen = {source.path for source in include_arrows.cxx_sources(ROOT)}
    assert {"interpose/ring/ring.h", "proto/memoir/options.def", "tracker/torch/install/hooks.cc", "tools/model/capture.h"} <= seen
    assert len(schema_rules.schema_of(ROOT).numbers) > 300


def test_every_rule_has_a_seed():
    assert all(rule.seeds for rule in RULES)
