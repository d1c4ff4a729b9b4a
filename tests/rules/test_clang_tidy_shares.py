"""clang-tidy has nothing to say of the C++ sources, folder by folder: an entry of ctest each (clang_tidy/...), of the label `long`."""

import cpp_checkers
import pytest


@pytest.mark.parametrize("share", cpp_checkers.shares())
def test_holds(share):
    violations = list(cpp_checkers.complaints_of_share(share))
    assert not violations, "\n".join(violations)
