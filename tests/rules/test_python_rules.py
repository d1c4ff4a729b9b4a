"""Each rule of python_checkers.py holds for this tree, and finds each of its seeded violations guilty."""

import pytest
from python_checkers import ROOT, RULES

SEEDS = [pytest.param(rule, seed, id=f"{rule.name}-{number}") for rule in RULES for number, seed in enumerate(rule.seeds)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_holds(rule):
    violations = list(rule.check(ROOT))
    assert not violations, f"{rule.check.__doc__}\n" + "\n".join(violations)


@pytest.mark.parametrize("rule, seed", SEEDS)
def test_finds_its_seeded_violation(rule, seed, tmp_path):
    for path, text in seed.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    assert list(rule.check(tmp_path)), f"{rule.name} did not notice {seed}"
