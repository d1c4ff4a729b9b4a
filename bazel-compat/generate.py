#!/usr/bin/env python3
"""Writes the BUILD.bazel of every folder from CMake's own lists.

    generate.py [--targets build/dev/targets.txt] [--check]

CMake says which targets there are (cmake/Describe.cmake writes the file), the sources say whose headers they include. With --check nothing
is written: each BUILD.bazel that is not what would be written is a line, and the exit code is 1. What Bazel makes of a target is in rules.bzl.
"""

import argparse
import collections
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOPS = ("interpose", "proto", "tracker", "tools", "tests", "third_party")
REMEDY = "python3 bazel-compat/generate.py"
BY_HAND = {"bazel-compat", "examples/libtorch", "python"}  # packages whose BUILD.bazel is no list of CMake's
HEADERS = (".h", ".hpp", ".def", ".inc")
SYSTEM = "@system_libraries//:"
TORCH = "@torch_wheel//:"
LIBRARIES = {  # CMake's names of what is not ours; None: Bazel needs no label for it
    "memoir_flags": None,
    "-lc": None,
    "-lgcc": None,
    "Threads::Threads": SYSTEM + "threads",
    "dl": SYSTEM + "dl",
    "GTest::gtest": SYSTEM + "gtest",
    "GTest::gmock": SYSTEM + "gmock",
    "GTest::gtest_main": SYSTEM + "gtest_main",
    "benchmark::benchmark": SYSTEM + "benchmark",
    "CudaWheel::headers": TORCH + "cuda_headers",
    **{f"memoir_{name}": SYSTEM + name for name in "zstd xxhash protozero protobuf protobuf_zlib sqlite sodium cli11 libdw".split()},
}
# Sources that the build makes, by package: the macro of made_sources.bzl that makes those that CMake lists.
MADE = {"proto": "schema_sources", "tools/view": "font_source", "interpose/simcuda": "simulated_device_sources", "tracker/client": "public_headers"}
MADE_HEADERS = {"proto": ":messages", "interpose/simcuda": ":tables"}
HEADERS_ALONE = {"nlohmann/": SYSTEM + "json", "stb/": SYSTEM + "stb"}  # CMake has no target for them


class Target:
    def __init__(self, name, kind, folder):
        self.name, self.kind, self.folder, self.properties = name, kind, folder, {}

    def list(self, name):
        return [value for value in self.properties.get(name, "").split(";") if value]


def read_targets(text):
    """Of several torches' targets only the first one's: Bazel builds for one."""
    targets = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "target":
            name, kind, folder = (value.split(" ") + [""])[:3]
            current = Target(name, kind.removesuffix("_LIBRARY"), folder)
            targets[name] = current
        else:
            current.properties[key] = value
    minors = [match[1] for name in targets if (match := re.search(r"-torch([\d.]+)$", name))]
    return {name: target for name, target in targets.items() if "-torch" not in name or name.endswith(f"-torch{minors[0]}")}


class Tree:
    """Packages, labels and headers of a source tree."""

    def __init__(self, root, targets):
        self.root, self.targets = root, targets
        self.packages = {target.folder for target in targets.values() if target.kind != "INTERFACE"} | BY_HAND
        self.packages |= {"tracker", "tracker/client", "proto"}
        self.headers = collections.defaultdict(set)
        for folder in TOPS:
            for path in (root / folder).rglob("*"):
                name = path.relative_to(root).as_posix()
                if path.suffix in HEADERS and "node_modules" not in name and (package := self.package(name)) is not None:
                    self.headers[package].add(name)
        self.included = {}

    def package(self, path):
        """The innermost package above `path`, which is from the root."""
        for parent in pathlib.PurePosixPath(path).parents:
            if (name := "" if str(parent) == "." else str(parent)) in self.packages:
                return name
        return None

    def label(self, path, here):
        package = self.package(path)
        name = path[len(package) :].lstrip("/")
        return name if package == here else f"//{package}:{name}"

    def includes_of(self, path):
        """Packages whose headers the file at `path` includes."""
        if path not in self.included:
            names = re.findall(r'^\s*#\s*include\s*"([^"]+)"', (self.root / path).read_text(errors="replace"), re.M)
            here = str(pathlib.PurePosixPath(path).parent)
            found = [name for each in names for name in (each, f"{here}/{each}") if name in self.headers.get(self.package(name), ())]
            self.included[path] = {self.package(name) for name in found}
        return self.included[path]


def normal(folder, path):
    """`path` as a list in `folder` has it, from the root."""
    return os.path.normpath(path.removeprefix("@SOURCE@/") if path.startswith("@SOURCE@") else f"{folder}/{path}")


def file_name(target):
    """What the linker writes, from the package's folder."""
    shared = target.kind in ("SHARED", "MODULE")
    name = target.properties.get("OUTPUT_NAME", target.name)
    name = target.properties.get("PREFIX", "lib" if shared else "") + name + target.properties.get("SUFFIX", ".so" if shared else "")
    below = target.properties.get("LIBRARY_OUTPUT_DIRECTORY", "").removeprefix("@BUILD@/" + target.folder).lstrip("/")
    return f"{below}/{name}" if shared and below and not below.startswith("torch") else name


def file_label(target, here):
    return ("" if target.folder == here else f"//{target.folder}") + ":" + file_name(target)


class Rule:
    """A call of a macro of rules.bzl."""

    def __init__(self, macro, name):
        self.macro, self.name, self.values = macro, name, {}

    def add(self, attribute, *values):
        wanted = self.values.setdefault(attribute, [])
        wanted.extend(value for value in values if value not in wanted)

    def text(self):
        lines = [f"{self.macro}(", f"    name = {literal(self.name)},"]
        for attribute, values in self.values.items():
            if isinstance(values, str):
                lines.append(f"    {attribute} = {values},")
            elif len(values) == 1:
                lines.append(f"    {attribute} = [{literal(values[0])}],")
            elif values:
                lines += [f"    {attribute} = [", *(f"        {literal(value)}," for value in values), "    ],"]
        return "\n".join(lines + [")"])


def literal(text):
    """In Starlark; a torch's minor is known only to the repository of that torch."""
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return re.sub(r"-torch\d+\.\d+", '-torch" + TORCH_MINOR + "', quoted).replace(' + ""', "")


def rule_of(target, tree):
    here = target.folder
    shared, program = target.kind in ("SHARED", "MODULE"), target.kind == "EXECUTABLE"
    is_test = "GTest::gtest_main" in target.list("LINK_LIBRARIES")
    macro = "memoir_test" if is_test else "memoir_program" if program else "memoir_shared_library" if shared else "memoir_library"
    rule = Rule(macro, file_name(target) if shared or program else target.name)
    if is_test:
        rule.name = target.name
    if "long" in target.list("TEST_LABELS"):
        rule.values["long"] = "True"
    add_sources(rule, target, tree)
    if target.name == "memoir_fmt":
        rule.add("deps", SYSTEM + "fmt")
    add_libraries(rule, target, tree)
    if target.kind == "OBJECT":
        rule.values["whole"] = "True"
    for option in target.list("COMPILE_OPTIONS"):
        if not option.startswith("-W") or option == "-w":
            rule.add("copts", option)
    add_definitions(rule, target, tree)
    add_link_options(rule, target, tree)
    for folder in target.list("INTERFACE_INCLUDE_DIRECTORIES"):
        if folder == f"@SOURCE@/{here}" or folder.startswith("@BUILD@/generated"):
            rule.add("includes", ".")
    if any("/nvidia/" in folder for folder in target.list("INCLUDE_DIRECTORIES")):
        rule.add("deps", TORCH + "cuda_headers")
    if "@BUILD@/include" in target.list("INCLUDE_DIRECTORIES"):
        rule.add("deps", "//tracker/client:public_headers")
    for name in target.list("MANUALLY_ADDED_DEPENDENCIES"):
        rule.add("data", file_label(tree.targets[name], here))
    return rule


def add_sources(rule, target, tree):
    used = set()
    for source in target.list("SOURCES"):
        if match := re.fullmatch(r"\$<TARGET_OBJECTS:(.*)>", source):
            objects = tree.targets[match[1]]
            label = ("" if objects.folder == target.folder else "//" + objects.folder) + ":" + objects.name
            rule.add("deps", label + "_whole" if target.kind in ("SHARED", "MODULE") else label)
        elif source.startswith("@BUILD@"):
            rule.add("srcs", place_in_package(source, target))
        else:
            path = normal(target.folder, source)
            rule.add("srcs", tree.label(path, target.folder))
            used |= tree.includes_of(path)
            text = (tree.root / path).read_text(errors="replace")
            rule.add("deps", *(label for begin, label in HEADERS_ALONE.items() if f"#include <{begin}" in text))
    if "srcs" in rule.values and target.folder in MADE_HEADERS:
        rule.add("deps", MADE_HEADERS[target.folder])
    if tree.headers[target.folder] and "srcs" in rule.values:
        used.add(target.folder)
    rule.add("deps", *(":headers" if package == target.folder else f"//{package}:headers" for package in sorted(used)))


def place_in_package(made, target):
    return made.removeprefix("@BUILD@/").removeprefix("generated/").removeprefix(target.folder + "/")


def add_libraries(rule, target, tree):
    for library in target.list("LINK_LIBRARIES") or target.list("INTERFACE_LINK_LIBRARIES"):
        library = re.sub(r"::@.*", "", re.sub(r"^\$<(?:TARGET_FILE|LINK_ONLY):(.*)>$", r"\1", library))
        if match := re.fullmatch(r"TorchWheel(?:-[\d.]+)?::(\w+)", library):
            rule.add("deps", TORCH + match[1])
            if target.kind == "EXECUTABLE":
                rule.add("deps", TORCH + "run_path")
        elif library.endswith("/libc10_cuda.so"):
            rule.add("deps", TORCH + "c10_cuda")
        elif library.startswith("absl::"):
            rule.add("deps", SYSTEM + library.replace("::", "_"))
        elif library in LIBRARIES:
            rule.add("deps", *filter(None, [LIBRARIES[library]]))
            if library in ("-lc", "-lgcc"):
                rule.add("linkopts", library)
        elif library in tree.targets:
            other = tree.targets[library]
            if other.kind not in ("SHARED", "MODULE"):
                rule.add("deps", ("" if other.folder == target.folder else "//" + other.folder) + ":" + other.name)
            elif target.kind != "OBJECT":
                rule.add("shared", file_label(other, target.folder))
        else:
            sys.exit(f"generate.py: {target.name} links {library}, which LIBRARIES does not know")


def add_definitions(rule, target, tree):
    for definition in target.list("COMPILE_DEFINITIONS"):
        if match := re.search(r"\$<TARGET_FILE:(.*)>", definition):
            other = tree.targets[match[1]]
            rule.add("data", file_label(other, target.folder))
            definition = definition.replace(match[0], f"{other.folder}/{file_name(other)}")
        definition = definition.replace("@BUILD@/", "").replace("@SOURCE@/", "")
        if match := re.search(r'="([^"]*/[^"]*)"', definition):
            if (tree.root / match[1]).is_dir() and match[1] != target.folder and match[1].startswith(target.folder):
                rule.values["files"] = literal(match[1].removeprefix(target.folder + "/") + "/**")
        if "TORCH_MINOR" in definition:
            rule.values["torch_minor"] = "TORCH_MINOR"
        else:
            rule.add("local_defines", definition.replace('"', '\\"'))


def add_link_options(rule, target, tree):
    for option in target.list("LINK_OPTIONS"):
        option = option.replace("LINKER:", "-Wl,")
        if match := re.fullmatch(r"-Wl,--version-script=(.*)", option):
            rule.values["version_script"] = literal(tree.label(normal("", match[1]), target.folder))
        elif option.startswith("-L"):
            rule.add("deps", TORCH + "torch")
        elif option == "-static-libstdc++":
            rule.add("linkopts", "-l:libstdc++.a")
        elif option not in ("-ltorch", "-Wl,-z,undefs", "-Wl,--no-as-needed" if TORCH + "torch" in rule.values.get("deps", []) else ""):
            rule.add("linkopts", option)
    if target.properties.get("NO_SONAME"):
        rule.values["soname"] = "None"


def headers_rule(package, tree):
    rule = Rule("memoir_headers", "headers")
    rule.add("hdrs", *(name[len(package) :].lstrip("/") for name in sorted(tree.headers[package])))
    used = set().union(*(tree.includes_of(name) for name in tree.headers[package])) - {package}
    rule.add("deps", *(f"//{name}:headers" for name in sorted(used)))
    if package == "proto":
        rule.values.pop("deps", None)
    return rule


def build_file(package, targets, tree, exported):
    rules = [rule_of(target, tree) for target in targets]
    if tree.headers[package]:
        rules.insert(0, headers_rule(package, tree))
    macros = sorted({rule.macro for rule in rules})
    body = "\n\n".join(rule.text() for rule in rules)
    lines = [f"# Made from CMake's lists: {REMEDY}", ""]
    if package in MADE:
        lines.append(f'load("//bazel-compat:made_sources.bzl", "{MADE[package]}")')
    if macros:
        lines.append(f'load("//bazel-compat:rules.bzl", {", ".join(map(literal, macros))})')
    if "TORCH_MINOR" in body:
        lines.append('load("@torch_wheel//:torch.bzl", "TORCH_MINOR")')
    lines += ["", 'package(default_visibility = ["//visibility:public"])', ""]
    if names := sorted(exported[package]):
        lines += ["exports_files([", *(f"    {literal(name)}," for name in names), "])", ""]
    if package in MADE:
        made = [place_in_package(source, target) for target in targets for source in target.list("SOURCES") if source.startswith("@BUILD@")]
        lines += [f"{MADE[package]}([", *(f"    {literal(name)}," for name in made), "])", ""]
    return "\n".join(lines) + "\n" + body + "\n"


def build_files(described, root=ROOT):
    """Path from the root -> text of every BUILD.bazel that is made."""
    tree = Tree(root, read_targets(described))
    by_package = collections.defaultdict(list)
    for target in tree.targets.values():
        if target.kind != "INTERFACE":
            by_package[target.folder].append(target)
    exported = collections.defaultdict(set)
    for target in tree.targets.values():
        for source in target.list("SOURCES"):
            path = normal(target.folder, source)
            if not source.startswith(("@BUILD@", "$")) and (package := tree.package(path)) != target.folder:
                exported[package].add(path[len(package) :].lstrip("/"))
    exported[""] |= {"VERSION"}
    exported["interpose/simcuda"] |= {"profiles.txt", "workspaces.txt"}
    exported["tracker"] |= {"memoir.h"}
    return {
        (f"{package}/" if package else "") + "BUILD.bazel": build_file(package, by_package[package], tree, exported)
        for package in sorted(tree.packages - BY_HAND)
    }


def differences(described, root=ROOT):
    """A line for each file of one build that the other does not have, and for each BUILD.bazel that is different otherwise."""
    wanted = build_files(described, root)
    for path, text in wanted.items():
        there = (root / path).read_text() if (root / path).exists() else ""
        ours, theirs = quoted_names(text), quoted_names(there)
        for name in sorted(ours - theirs):
            yield f"{path}: CMake has {name}, Bazel does not: {REMEDY}"
        for name in sorted(theirs - ours):
            yield f"{path}: Bazel has {name}, CMake does not: {REMEDY}"
        if ours == theirs and text != there:
            yield f"{path}: its flags or libraries are not CMake's: {REMEDY}"
    yield from (f"{path}: no target of CMake's is here: {REMEDY}" for path in stale(wanted, root))


def stale(wanted, root):
    """BUILD.bazel files that nothing makes any more."""
    for folder in TOPS:
        for path in (root / folder).rglob("BUILD.bazel"):
            name = path.relative_to(root).as_posix()
            if name not in wanted and "node_modules" not in name:
                yield name


def quoted_names(text):
    return set(re.findall(r'^ *(?:\w+ = \[)?"([^"]+\.(?:cc|c|h|hpp|def|inc))"', text, re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--targets", type=pathlib.Path, default=ROOT / "build/dev/targets.txt", help="what CMake's configuration wrote")
    parser.add_argument("--check", action="store_true", help="write nothing; say what is different")
    options = parser.parse_args()
    if not options.targets.exists():
        sys.exit(f"generate.py: {options.targets} is not there: configure CMake (./dev test does), or name another with --targets")
    described = options.targets.read_text()
    if options.check:
        found = list(differences(described))
        sys.exit("\n".join(found) if found else 0)
    wanted = build_files(described)
    for path in list(stale(wanted, ROOT)):
        (ROOT / path).unlink()
    for path, text in wanted.items():
        (ROOT / path).write_text(text)


if __name__ == "__main__":
    main()
