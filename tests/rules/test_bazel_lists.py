"""The BUILD.bazel files are what CMake's lists make of them (bazel-compat/generate.py), and each way to differ is found."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bazel-compat"))
import generate  # noqa: E402

TARGETS = """\
target memoir_read STATIC_LIBRARY tools/read
SOURCES part.cc;folder.cc
LINK_LIBRARIES memoir_flags;memoir_zstd
COMPILE_OPTIONS -fno-rtti
target read_test EXECUTABLE tests/read
SOURCES read_test.cc
LINK_LIBRARIES memoir_flags;memoir_read;GTest::gtest_main
"""


def test_holds():
    file = pathlib.Path(os.environ.get("MEMOIR_TARGETS", ROOT / "build/dev/targets.txt"))
    if not file.exists():
        pytest.skip(f"CMake was not configured: {file} is not there")
    described = file.read_text()
    if "memoir_simcuda " not in described or "TorchWheel" not in described:
        pytest.skip("CMake was configured without torch or CUDA's headers: its lists are not whole")
    assert not list(generate.differences(described))


def write(tree, path, text=""):
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(text)


@pytest.fixture
def tree(tmp_path):
    """A small tree whose two builds agree."""
    for path in ("tools/read/part.cc", "tools/read/part.h", "tools/read/folder.cc"):
        write(tmp_path, path)
    write(tmp_path, "tests/read/read_test.cc", '#include "tools/read/part.h"\n')
    for path, text in generate.build_files(TARGETS, tmp_path).items():
        write(tmp_path, path, text)
    assert not list(generate.differences(TARGETS, tmp_path))
    return tmp_path


def found(tree, described=TARGETS):
    return "\n".join(generate.differences(described, tree))


def test_a_file_that_only_cmake_has_is_named(tree):
    write(tree, "tools/read/seeded.cc")
    assert "tools/read/BUILD.bazel: CMake has seeded.cc, Bazel does not" in found(tree, TARGETS.replace("part.cc;", "part.cc;seeded.cc;"))


def test_a_file_that_only_bazel_has_is_named(tree):
    assert "tools/read/BUILD.bazel: Bazel has folder.cc, CMake does not" in found(tree, TARGETS.replace(";folder.cc", ""))


def test_a_file_that_someone_wrote_into_the_list_is_named(tree):
    text = (tree / "tools/read/BUILD.bazel").read_text()
    write(tree, "tools/read/BUILD.bazel", text.replace('"part.cc",', '"part.cc",\n        "by_hand.cc",'))
    assert "tools/read/BUILD.bazel: Bazel has by_hand.cc, CMake does not" in found(tree)


def test_a_new_header_is_named(tree):
    write(tree, "tools/read/seeded.h")
    assert "tools/read/BUILD.bazel: CMake has seeded.h, Bazel does not" in found(tree)


@pytest.mark.parametrize("old, new", [("-fno-rtti", "-fno-exceptions"), ("memoir_zstd", "memoir_xxhash"), ("memoir_flags;memoir_read", "memoir_flags")])
def test_other_flags_and_libraries_are_found(tree, old, new):
    assert "flags or libraries are not CMake's" in found(tree, TARGETS.replace(old, new))


def test_a_header_of_another_folder_makes_a_library(tree):
    assert '"//tools/read:headers"' in (tree / "tests/read/BUILD.bazel").read_text()
    write(tree, "tests/read/read_test.cc")
    assert "tests/read/BUILD.bazel: its flags or libraries are not CMake's" in found(tree)


def test_a_folder_that_bazel_does_not_have_is_found(tree):
    (tree / "tests/read/BUILD.bazel").unlink()
    assert "tests/read/BUILD.bazel: CMake has read_test.cc, Bazel does not" in found(tree)


def test_a_folder_that_cmake_does_not_have_is_found(tree):
    write(tree, "tools/gone/BUILD.bazel", "# nothing")
    assert "tools/gone/BUILD.bazel: no target of CMake's is here" in found(tree)


def test_one_torch_of_several_is_taken(tmp_path):
    described = "".join(f"target hooks-torch{minor} OBJECT_LIBRARY tracker/torch\nSOURCES hooks.cc\n" for minor in ("2.11", "2.15"))
    write(tmp_path, "tracker/torch/hooks.cc")
    text = generate.build_files(described, tmp_path)["tracker/torch/BUILD.bazel"]
    assert text.count("memoir_library(") == 1 and 'name = "hooks-torch" + TORCH_MINOR' in text
