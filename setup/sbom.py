"""./dev sbom: the bill of materials of an installed tree, in CycloneDX 1.5 (JSON): its files, and the components of other projects in each of them.

Read off the build: the archives in its link commands, the headers that its compiler read, the lock file of the report's page. A component that is not in
setup/components.py is an error. The same tree gives the same bytes: there is no date in it, and its number follows from its content.
"""

import argparse
import collections
import functools
import hashlib
import json
import pathlib
import platform
import re
import subprocess
import sys
import uuid

import components

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = "lib/memoir/report.html"


class Unknown(Exception):
    """Something is in the tree of which components.py does not know."""


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, **options)


class Build:
    """A build folder of Ninja's: what each output is linked of and compiled from."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.sources = pathlib.Path(re.search("^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", (folder / "CMakeCache.txt").read_text(), re.MULTILINE).group(1))
        self.edges = {}
        outputs = ()
        for line in (folder / "build.ninja").read_text().replace("$\n", "").splitlines():
            if line.startswith("build "):
                left, _, right = line.removeprefix("build ").partition(": ")
                rule, *inputs = right.split(" || ")[0].split()
                outputs = left.split(" | ")[0].split() if re.search("_(LINKER|COMPILER)__", rule) else ()
                self.edges |= {output: [name for name in inputs if name != "|"] for output in outputs}
            elif line.startswith("  LINK_LIBRARIES = "):
                for output in outputs:
                    self.edges[output] += line.split()[2:]
        self.headers = collections.defaultdict(set)
        dependencies = run("ninja", "-C", folder, "-t", "deps")
        if dependencies.returncode != 0:
            raise Unknown(f"what {folder} was compiled from: ninja -t deps: {dependencies.stderr.strip()}")
        for line in dependencies.stdout.splitlines():
            if line.startswith("    "):
                self.headers[current].add(line.strip())
            elif line:
                current = line.split(":")[0]

    @functools.cache  # noqa: B019 (there is one build)
    def resolve(self, name):
        return (self.folder / name).resolve()

    def output_of(self, name):
        """The build's output that was installed under this file name, or None."""
        found = [output for output in self.edges if output.rpartition("/")[2] == name and not output.startswith("tests/")]
        return found[0] if found else None

    def materials(self, output):
        """Every file from elsewhere that is linked into `output` or compiled for it, and of the repository what was compiled; no shared libraries."""
        wanted, seen, found = [output], set(), set()
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            found |= self.headers.get(name, set())
            for part in self.edges.get(name, ()):
                if part in self.edges and not part.endswith(".so"):
                    wanted.append(part)
                elif part.endswith((".a", ".c", ".cc", ".cpp")):
                    found.add(part)
        paths = {self.sources / components.GENERATED.get(path.name, path) for path in map(self.resolve, found)}
        return {path for path in paths if not path.is_relative_to(self.folder)}


class Packages:
    """Which package of Debian's or of Python's a file is of."""

    def __init__(self, files, sources):
        self.of, self.sources = {}, sources
        system = [str(path) for path in files if path.is_relative_to("/usr") or path.is_relative_to("/lib")]
        for line in run("dpkg", "-S", *system).stdout.splitlines() if system else ():
            package, _, path = line.partition(": ")
            self.of[pathlib.Path(path)] = package.split(",")[0]
        names = sorted(set(self.of.values()))
        shown = run("dpkg-query", "-W", "-f", "${binary:Package}\t${source:Package}\t${source:Version}\t${Architecture}\n", *names).stdout if names else ""
        self.source = {}
        for line in shown.splitlines():
            name, *rest = line.split("\t")
            self.source[name] = self.source[name.split(":")[0]] = tuple(rest)
        self.wheels = {}
        for path in files:
            if "site-packages" in path.parts:
                folder = pathlib.Path(*path.parts[:path.parts.index("site-packages") + 1])
                if folder not in self.wheels:
                    self.wheels[folder] = self.files_of_wheels(folder)

    @staticmethod
    def files_of_wheels(folder):
        found = {}
        for record in folder.glob("*.dist-info/RECORD"):
            name, version = record.parent.name.removesuffix(".dist-info").rsplit("-", 1)
            for line in record.read_text().splitlines():
                if ".h" in line or "include/" in line:
                    found[line.split(",")[0]] = (name.replace("_", "-").lower(), version)
        return found

    def component(self, path):
        """(kind, name of the package, version) of a file from elsewhere; None for this repository's own."""
        if "site-packages" in path.parts:
            folder = pathlib.Path(*path.parts[:path.parts.index("site-packages") + 1])
            name, version = self.wheels[folder].get(path.relative_to(folder).as_posix(), (path.relative_to(folder).parts[0], ""))
            return ("pypi", name, version)
        if path.is_relative_to(self.sources):
            inside = path.relative_to(self.sources).as_posix()
            return next((("own", prefix, "") for prefix in components.VENDORED if inside.startswith(prefix)), None)
        package = self.of.get(path)
        if package is None:
            raise Unknown(f"{path} is of no package that is known here")
        return ("deb", *self.source[package][:2])


def version_of(prefix):
    _, _, file, pattern = components.VENDORED[prefix]
    return re.search(pattern, (ROOT / file).read_text()).group(1) if file else None


def described(kind, name, version):
    """The entry of a component, or None where nothing of it is in the tree."""
    if name in components.DECLARATIONS:
        return None
    table = {"deb": {**components.LIBRARIES, **components.TOOLCHAIN}, "pypi": components.WHEEL_HEADERS, "own": components.VENDORED, "npm": {}}[kind]
    if name not in table:
        raise Unknown(f"{name} {version} ({kind}): setup/components.py does not have it; add it with its licence, and to NOTICE")
    shown, licence = table[name][:2]
    if kind == "own":
        version, purl = version_of(name), None
    elif kind == "deb":
        purl = f"pkg:deb/{platform.freedesktop_os_release()['ID']}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}"
    else:
        purl = f"pkg:pypi/{name}@{version}"
    entry = {"type": "library", "bom-ref": f"{kind}:{name}@{version}" if version else f"{kind}:{name}", "name": shown, "licenses": [{"expression": licence}]}
    if name.endswith(".ttf"):
        entry["type"] = "data"
    return entry | ({"version": version} if version else {}) | ({"purl": purl} if purl else {})


def bundled():
    """Yields the npm packages in the report's page, from its lock file, without development packages."""
    lock = json.loads((ROOT / "tools" / "web" / "package-lock.json").read_text())
    for path, package in sorted(lock["packages"].items()):
        if path.startswith("node_modules/") and not package.get("dev") and not package.get("optional"):
            name = path.removeprefix("node_modules/")
            yield {"type": "library", "bom-ref": f"npm:{name}@{package['version']}", "name": name, "version": package["version"], "purl": f"pkg:npm/{name}@{package['version']}",
                   "licenses": [{"expression": package["license"]}]}


# Files that a wheel, which has no links, holds by the names that programs look for.
RENAMED = {"libcuda.so.1": "libmemoir_simcuda.so"}


def outputs_of(build, programs):
    """Yields (name, linker output) for {name: hash}. A link to another file in a tree is a copy of that file in a wheel."""
    outputs = {}
    for name, digest in programs.items():
        file = name.rpartition("/")[2]
        if output := build.output_of(RENAMED.get(file, file)):
            outputs[digest] = output
    for name, digest in programs.items():
        if digest not in outputs:
            raise Unknown(f"{name}: no link command of {build.folder} makes it")
        yield name, outputs[digest]


def bill(build, tree):
    """The whole document."""
    files, found, programs = [], {}, {}
    for path in sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()):
        name = path.relative_to(tree).as_posix()
        if "__pycache__" in name:
            continue
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        files.append({"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]})
        if content[:4] == b"\x7fELF":
            programs[name] = digest
    materials = {name: build.materials(output) for name, output in outputs_of(build, programs)}
    packages = Packages(set().union(*materials.values()), build.sources)
    holds = {name: {component for component in map(packages.component, paths) if component} for name, paths in materials.items()}
    dependencies = []
    for name in sorted(holds):
        entries = {entry["bom-ref"]: entry for entry in (described(*component) for component in holds[name]) if entry}
        found |= entries
        dependencies.append({"ref": f"file:{name}", "dependsOn": sorted(entries)})
    if (tree / PAGE).exists():
        entries = {entry["bom-ref"]: entry for entry in bundled()}
        found |= entries
        dependencies.append({"ref": f"file:{PAGE}", "dependsOn": sorted(entries)})
    version = (ROOT / "VERSION").read_text().strip()
    memoir = {"type": "application", "bom-ref": "memoir", "name": "memoir", "version": version, "purl": f"pkg:pypi/memoir@{version}",
              "licenses": [{"expression": "Apache-2.0"}], "components": files}
    dependencies.append({"ref": "memoir", "dependsOn": [file["bom-ref"] for file in files]})
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": memoir},
                "components": [found[ref] for ref in sorted(found)], "dependencies": dependencies}
    number = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "serialNumber": f"urn:uuid:{number}", **document}


def main():
    parser = argparse.ArgumentParser(prog="./dev sbom", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="the build folder [build/release]")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT / "build" / "install", help="the installed tree [build/install]")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "build" / "memoir.cdx.json", help="[build/memoir.cdx.json]")
    options = parser.parse_args()
    try:
        document = bill(Build(options.build), options.tree)
    except (Unknown, OSError) as problem:
        sys.exit(f"sbom: {problem}")
    options.output.write_text(json.dumps(document, indent=1) + "\n")
    for entry in document["components"]:
        print(f"{entry['name']:<18} {entry.get('version', ''):<18} {entry['licenses'][0]['expression']}")
    print(f"{options.output}: {len(document['components'])} components, {len(document['metadata']['component']['components'])} files")


if __name__ == "__main__":
    main()
