"""Python packages of the environments: each is listed with its version and hashes, as setup/lock_wheels.py writes it."""

import re

from sources import Rule

FOLDER = "setup"


def pins(text):
    """name==version of each requirement, without its marker."""
    return {line.split(";")[0].split("\\")[0].strip().lower().replace("_", "-") for line in text.splitlines() if re.match("[A-Za-z0-9]", line)}


def requirements_carry_hashes(tree):
    """pip and uv check what they download against hashes; a requirement without one would be installed whatever is in it."""
    for path in sorted((tree / FOLDER).glob("requirements*.txt")):
        if not path.with_suffix(".in").exists():
            yield f"{FOLDER}/{path.name}: has no {path.stem}.in, from which setup/lock_wheels.py writes it"
        for requirement in re.split(r"\n(?=[^\s#])", path.read_text())[1:]:
            name = requirement.split()[0]
            if "==" not in name:
                yield f"{FOLDER}/{path.name}: {name}: no version (NAME==VERSION)"
            if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", requirement):
                yield f"{FOLDER}/{path.name}: {name}: no hash; python setup/lock_wheels.py writes them"


def locks_follow_requirements(tree):
    """A version that was changed in the .in alone would never be installed."""
    for path in sorted((tree / FOLDER).glob("requirements*.in")):
        locked = path.with_suffix(".txt")
        missing = pins(path.read_text()) - (pins(locked.read_text()) if locked.exists() else set())
        yield from (f"{FOLDER}/{locked.name}: lacks {pin}, which {path.name} names; run python setup/lock_wheels.py" for pin in sorted(missing))


_HASH = f" \\\n    --hash=sha256:{'0' * 64}\n"

RULES = (
    Rule(
        requirements_carry_hashes,
        (
            {"setup/requirements.in": "a==1\n", "setup/requirements.txt": "# written\na==1\n"},
            {"setup/requirements.in": "a==1\nb\n", "setup/requirements.txt": f"# written\na==1{_HASH}b{_HASH}"},
            {"setup/requirements-b.txt": f"# written\na==1{_HASH}"},
        ),
    ),
    Rule(
        locks_follow_requirements,
        (
            {"setup/requirements.in": "a==2; python_version > \"3\"\n", "setup/requirements.txt": f"# written\na==1{_HASH}"},
            {"setup/requirements.in": "a==2\n"},
        ),
    ),
)
