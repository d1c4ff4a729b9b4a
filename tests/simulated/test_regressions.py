"""`memoir diff` names, in its first line, regressions of programs that differ in kind, each in a program whose lines an edit has moved at the same time.

    pytest -rP tests/simulated/test_regressions.py     prints the first line for each
"""

import ast
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("regressions")
LAUNCHED = {"job": ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]}
TWO_DEVICES = {"job", "allocator", "allocator fixed"}
OF_SNAPSHOTS = {"server"}

# The first program is recorded in every run of the tests, because its regressions are unlike those of test_diff.py: in reserved bytes, on other devices.
# For each program (its file, and a second argument) its regressions, and words of the first line for each, besides one of the lines that the program has marked
# with its name.
SEEDED = {
    "allocator": {
        "not_expandable": ["no difference", "reserved +", "no expandable segments"],
        "second_stream": ["no difference", "reserved +", "another stream"],
        "slices": ["aten::clone"],
        "second_device": ["only B has cuda:1, 24.0 MiB"],
        "pinned": ["no difference", "pinned", "+40.0 MiB"],
        "host": ["no difference", "cpu", "+48.0 MiB"],
        "graph": ["aten::cat"],
    },
    "images": {
        "layer_norm": ["aten::to.dtype", "blocks.*", "activation"],
        "expanded": ["activation"],
        "not_inplace": ["blocks.*.relu", "activation"],
        "features": ["blocks.3"],
        "early": ["aten::to.dtype_layout", "input"],
        "scores": ["aten::softmax.int"],
        "twice": ["activation", "blocks.*"],
    },
    "sequences": {"hidden": ["in lstm", "activation (graph retained)"], "not_packed": ["in lstm"], "vocabulary": ["a size of 2000 is 32000 now", "words.weight"]},
    "experts": {"capacity": ["layers.*.experts.*", "activation"], "dense": ["layers.*.experts.*"], "more_experts": ["layers.*.experts.*"]},
    "adversarial": {"not_detached": ["Generator", "activation"], "penalty": ["Discriminator.down", "activation"]},
    "rollout": {"log_probabilities": ["body.*", "activation (no backward came)"], "replay": ["aten::add.Tensor"]},
    "accumulation": {"one_backward": ["mix", "activation"], "float_sums": ["aten::to.dtype"], "inputs": ["input"]},
    "generation": {
        "static_cache": ["layers.*.attention"],
        "kept_caches": ["layers.*.attention", "aten::cat"],
        "all_logits": ["aten::to.dtype", "Decoder"],
        "probabilities": ["aten::softmax.int"],
        "long_prompt": ["layers.*"],
    },
    "adapters": {"not_frozen": ["optimizer state"], "merged": ["aten::add.Tensor", "layers.*", "activation"], "rank": ["optimizer state"]},
    "transformer": {
        "wider": ["layers.*.mlp"],
        "float_attention": ["layers.*.attention", "activation"],
        "bias": ["layers.*.attention"],
        "math": ["layers.", "attention"],
        "averages": ["aten::clone", "parameter (copy)"],
        "float_loss": [],
        "no_autocast": ["layers.*"],
        "deeper": ["layers."],
    },
    "transformer small": {"clipped": ["aten::cat"], "foreach": ["aten::_foreach"]},
    "transformer evaluating": {"training_mode": ["dropout"], "float_evaluation": []},
    "compiled": {"eager": ["activation"]},
    "allocator fixed": {"not_warmed": ["no difference", "reserved +"]},
    "server": {"with_gradients": ["activation"], "sessions": ["aten::clone"]},
    "job": {"longer": ["rank 1", "layers."], "logged": ["rank 0", "layers."]},
}


def edited(text):
    """The program after an edit: lines before a third of its statements."""
    numbers = random.Random(len(text))
    lines = text.splitlines()
    first = {min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    result = []
    for number, line in enumerate(lines, 1):
        if number > 1 and number in first and numbers.random() < 0.33:
            result += ["# An edit."] * numbers.randrange(1, 4)
        result.append(line)
    return "\n".join(result) + "\n"


def marked(path, name):
    return [f"{path.name}:{number}" for number, line in enumerate(path.read_text().splitlines(), 1) if (match := re.search(r"# SEEDED: (.+)$", line)) and name in match[1].split(", ")]


def record(tree, folder, program, name):
    """One recording: "before" of the program as it stands; all others, and "again" without a regression, of the program after an edit."""
    file, *variant = program.split()
    source = (FOLDER if name == "before" else folder / "edited") / f"{file}.py"
    out = folder / program / name
    devices = ["--sim-devices", "2"] if program in TWO_DEVICES else []
    command = [tree / "bin/memoir", "run", "-q", "--simulate", "h100", *devices, "-o", out, "--", sys.executable, *LAUNCHED.get(program, []), source]
    # Code in Inductor's cache keeps the lines of the program that it was compiled for.
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "compiled" / f"cache of {name}")}
    done = subprocess.run(
        [*command, name if name in SEEDED[program] else "none", *variant], capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert done.returncode == 0, (program, name, done.stderr[-3000:])


def recorded(folder, program, name):
    out = folder / program / name
    return out / "snapshots/0001" if program in OF_SNAPSHOTS else out


def diff(tree, *arguments):
    return subprocess.run([tree / "bin/memoir", "diff", *arguments], capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "COLUMNS": "300"})


def misses(folder, program, name, first):
    """Words that are missing in the first line."""
    lines = marked(folder / "edited" / f"{program.split()[0]}.py", name)
    missing = [word for word in SEEDED[program][name] if word not in first]
    return missing + ([" or ".join(lines)] if lines and not any(f"{line} " in first for line in lines) else [])


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("program", SEEDED)
def test_each_is_named_in_the_first_line(tree, tmp_path, program):
    (tmp_path / "edited").mkdir()
    for source in FOLDER.glob("*.py"):
        (tmp_path / "edited" / source.name).write_text(edited(source.read_text()))
    names = list(SEEDED[program])
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: record(tree, tmp_path, program, name), ["before", "again", *names]))
    outputs = {name: diff(tree, recorded(tmp_path, program, "before"), recorded(tmp_path, program, name)) for name in ("again", *names)}
    assert not {name: done.stderr for name, done in outputs.items() if done.returncode}
    firsts = {name: done.stdout.splitlines()[0] for name, done in outputs.items()}
    print("".join(f"{program} {name}: {first}\n" for name, first in firsts.items()))
    assert not {name: (firsts[name], missing) for name in names if (missing := misses(tmp_path, program, name, firsts[name]))}
    # An edit alone is no regression.
    assert firsts["again"].startswith("no difference at ")
    assert ";" not in firsts["again"]
    assert "\n! " not in outputs["again"].stdout


def test_there_are_many():
    assert sum(len(names) for names in SEEDED.values()) >= 50
