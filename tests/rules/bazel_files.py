"""Bazel's side names no source, except where bazel-compat/tests.bzl has to."""

from sources import Rule, sources


def build_files_are_apart(tree):
    """Folders of sources contain no BUILD file. Bazel's targets find sources with globs (docs/packaging/bazel.md)."""
    for source in sources(tree):
        name = source.path.rpartition("/")[2]
        if name in ("BUILD", "BUILD.bazel") and source.path.startswith(("interpose/", "proto/", "python/", "simcuda/", "tests/", "tools/", "tracker/")):
            yield f"{source.path}: remove it; the globs of bazel-compat/ find the sources"


def programs_of_tests_are_no_helpers(tree):
    """A program in a folder of tests is named in bazel-compat/tests.bzl. Otherwise Bazel may link its main() into the tests instead of GoogleTest's."""
    files = sources(tree)
    listed = "".join(source.text for source in files if source.path == "bazel-compat/tests.bzl")
    folders = {source.folder for source in files if source.path.startswith("tests/") and source.path.endswith("_test.cc")}
    for source in files:
        if source.folder in folders and source.suffix == ".cc" and "\nint main(" in source.text and f'"{source.path}"' not in listed:
            yield f"{source.path}: add it to _NO_HELPERS in bazel-compat/tests.bzl"


RULES = (
    Rule(build_files_are_apart, ({"tools/read/BUILD.bazel": ""}, {"tests/read/BUILD": ""})),
    Rule(programs_of_tests_are_no_helpers, ({"tests/read/victim.cc": "\nint main() {}\n", "tests/read/read_test.cc": ""},)),
)
