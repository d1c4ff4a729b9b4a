"""The rule of test_clang_tidy_shares.py finds what it must find, looks at every source, and looks again at what has changed."""

import cpp_checkers
import pytest

SEEDS = {
    "bugprone-use-after-move": "#include <string>\n#include <utility>\nstd::string f(std::string a) { std::string b = std::move(a); return b + a; }\n",
    "concurrency-mt-unsafe": "#include <ctime>\nint f(const std::time_t* at) { return std::localtime(at)->tm_hour; }\n",
    "misc-redundant-expression": "bool f(int a) { return a == 1 || a == 1; }\n",
    "performance-for-range-copy": "#include <string>\n#include <vector>\nint f(const std::vector<std::string>& all) { int n = 0; for (const std::string one : all) n += "
    "static_cast<int>(one.size()); return n; }\n",
}


@pytest.mark.parametrize("where", ["source", "header"])
@pytest.mark.parametrize("check", SEEDS)
def test_finds_its_seeded_violation(check, where, tmp_path):
    folder = tmp_path / "interpose"
    folder.mkdir()
    source = folder / "seed.cc"
    source.write_text(SEEDS[check] if where == "source" else '#include "interpose/seed.h"\n')
    (folder / "seed.h").write_text(SEEDS[check].replace("std::string f(", "inline std::string f(").replace("\nint f(", "\ninline int f("))
    said = list(cpp_checkers.complaints(source, tmp_path, ["-std=c++20", f"-I{tmp_path}"]))
    assert any(f"[{check}" in line or f",{check}" in line for line in said), said


def test_a_clean_file_is_looked_at_again_when_something_in_it_changes(tmp_path):
    source, header = tmp_path / "a.cc", tmp_path / "a.h"
    source.write_text('#include "a.h"\nint f() { return kA; }\n')
    seen = set()
    for text in ("constexpr int kA = 1;\n", "constexpr int kA = 2;\n", "constexpr int kA = 2;  // NOLINT(misc-x): y\n"):
        header.write_text(text)
        seen.add(cpp_checkers.fingerprint(source, tmp_path, ["-std=c++20"]))
    seen.add(cpp_checkers.fingerprint(source, tmp_path, ["-std=c++20", "-DX"]))
    assert len(seen) == 4 and cpp_checkers.fingerprint(source, tmp_path, ["-std=c++20", "-DX"]) in seen


def test_functions_that_are_safe_here_are_no_others():
    assert cpp_checkers.SAFE.search("return std::getenv(name);") and not cpp_checkers.SAFE.search("return std::localtime(at);")


def test_every_source_is_in_a_share():
    found = cpp_checkers.commands()
    assert {"interpose/ring/ring_producer.cc", "tools/cli/main.cc", "tracker/torch/ranges/range_hook.cc"} <= set(found)
    left = [path for path in found if cpp_checkers.share_of(path) is None]
    assert not left
    assert not [share for share in cpp_checkers.shares() if all(cpp_checkers.share_of(path) != share for path in found)]


def test_flags_are_what_clang_can_take():
    given = ["-O2", "-fpch-preprocess", "-Wall", "-Werror", "-include", "/x/cmake_pch.hxx", "-include", "a.h", "-DA=1", "-o", "a.o", "-c", "a.cc"]
    assert cpp_checkers.flags(given) == ["-O2", "-include", "a.h", "-DA=1"]
