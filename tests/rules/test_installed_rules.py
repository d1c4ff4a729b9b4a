"""Each rule holds for the installed tree, and finds each of its seeded violations guilty."""

import os
import subprocess

import installed_rules
import pytest

SEEDS = [pytest.param(rule, *seed, id=f"{rule.name}-{number}") for rule in installed_rules.RULES for number, seed in enumerate(rule.seeds)]


@pytest.mark.parametrize("rule", installed_rules.RULES, ids=lambda rule: rule.name)
def test_holds(rule, tree):
    violations = list(rule.check(tree))
    assert not violations, f"{rule.check.__doc__}\n" + "\n".join(violations)


@pytest.mark.parametrize("rule, path, source, options, says", SEEDS)
def test_finds_its_seeded_violation(rule, path, source, options, says, tmp_path):
    output = tmp_path / path
    output.parent.mkdir(parents=True)
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-x", "c++", "-", "-o", str(output), *options], input=source, text=True, check=True)
    assert any(says in violation for violation in rule.check(tmp_path))
