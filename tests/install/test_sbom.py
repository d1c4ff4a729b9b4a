"""The bill of materials of the installed tree: valid CycloneDX, with every file, its contents from the build, and allowed licences only."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "setup"), str(ROOT / "tests" / "rules")]
import components  # noqa: E402
import licence_rules  # noqa: E402
import sbom  # noqa: E402


@pytest.fixture(scope="module")
def build(tree):
    folder = pathlib.Path(os.environ.get("TESTED_BUILD") or tree.parent)
    if not (folder / "build.ninja").exists():
        pytest.skip(f"{folder} was not built with Ninja")
    if subprocess.run(["which", "dpkg-query"], capture_output=True).returncode != 0:
        pytest.skip("no dpkg: the bill's versions are those of Debian's packages")
    return sbom.Build(folder)


@pytest.fixture(scope="module")
def document(build, tree):
    return sbom.bill(build, tree)


def holds(document, file):
    """The names of what is in a file."""
    names = {entry["bom-ref"]: entry["name"] for entry in document["components"]}
    depends, = (entry["dependsOn"] for entry in document["dependencies"] if entry["ref"] == f"file:{file}")
    return {names[ref] for ref in depends}


def test_is_valid_cyclonedx(document):
    validation = pytest.importorskip("cyclonedx.validation.json")
    schema = pytest.importorskip("cyclonedx.schema")
    validator = validation.JsonStrictValidator(schema.SchemaVersion.V1_5)
    assert validator.validate_str(json.dumps(document)) is None
    assert validator.validate_str(json.dumps({**document, "colour": "red"})) is not None


def test_has_every_file_with_its_hash(document, tree):
    files = {entry["name"]: entry["hashes"][0]["content"] for entry in document["metadata"]["component"]["components"]}
    there = {path.relative_to(tree).as_posix(): path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts}
    assert files == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items()}


def test_tells_what_is_in_each_program(document):
    memoir, tracker = holds(document, "bin/memoir"), next(e["ref"] for e in document["dependencies"] if "libmemoir_tracker" in e["ref"]).removeprefix("file:")
    assert memoir >= {"Abseil", "CLI11", "DejaVu Sans", "Protocol Buffers", "SQLite", "Zstandard", "flatcc", "nanoarrow", "nlohmann/json", "stb", "zlib", "{fmt}"}
    assert holds(document, tracker) >= {"PyTorch", "Zstandard", "protozero", "xxHash"} and "Protocol Buffers" not in holds(document, tracker)
    assert holds(document, "lib/memoir/libmemoir_interpose.so") == {"GCC"}
    assert "elfutils" in holds(document, "libexec/memoir/memoir-symbolize") and "elfutils" not in memoir
    assert not (ROOT / "tools" / "web" / "node_modules").exists() or holds(document, "lib/memoir/report.html") == {"uplot"}


@pytest.mark.parametrize("name, pattern", [("SQLite", rb"\b(3\.\d+\.\d+)\0"), ("zlib", rb"inflate (\d+\.\d+\.\d+)")])
def test_versions_are_those_in_the_program(document, tree, name, pattern):
    """Read off the program itself, where a library leaves its version in it."""
    entry, = (entry for entry in document["components"] if entry["name"] == name)
    inside = {version.decode() for version in re.findall(pattern, (tree / "bin" / "memoir").read_bytes())}
    assert any(re.sub(r"^\d+:", "", entry["version"]).startswith(version) for version in inside), (entry, inside)


def test_every_licence_is_allowed(document):
    assert [(entry["name"], part) for entry in document["components"] for part in licence_rules.refused(entry["licenses"][0]["expression"])] == []


def test_a_library_that_is_not_known_fails_it(build, tree, monkeypatch):
    monkeypatch.delitem(components.LIBRARIES, "sqlite3")
    with pytest.raises(sbom.Unknown, match="sqlite3 .*setup/components.py does not have it"):
        sbom.bill(build, tree)


def test_is_the_same_again(build, document, tree):
    assert sbom.bill(build, tree) == document
