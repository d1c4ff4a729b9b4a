"""Faults of all kinds, each a few times (with MEMOIR_TEST_LONG=1 as often as in docs/tested/reliability.md): the program ends as without Memoir, and losses are
reported. ./dev reliability makes its table.
"""

import os

import pytest

from faults import FAULTS
from lab import Lab
from reliability import known_rows, try_fault, PAGE

LONG = os.environ.get("MEMOIR_TEST_LONG") == "1"


@pytest.fixture(scope="module")
def lab(tree):
    lab = Lab(tree)
    yield lab
    lab.close()


@pytest.mark.in_turn(always=20)
@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.name) for fault in FAULTS.values() if LONG or not fault.only_long])
def test_a_fault(lab, fault):
    row = try_fault(lab, fault, LONG)
    if isinstance(row, str):
        pytest.skip(row)
    assert row.problems() == []


def test_the_page_has_each_fault():
    """Rows are written by ./dev reliability --long."""
    assert list(known_rows(PAGE.read_text())) == list(FAULTS)
