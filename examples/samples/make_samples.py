"""Makes a folder of sample reports and a start page, ready for any web server: make_samples.py --memoir PROGRAM FOLDER

`./dev samples` calls it. Each report comes from a real run of PyTorch on a simulated GPU. About a minute on two cores.
"""

import argparse
import html
import pathlib
import shlex
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
LLAMA = HERE.parent / "llama_like.py"
SMALL = ("--width", "1024", "--hidden", "2816", "--layers", "8", "--batch", "8", "--steps", "4")


class Recording(NamedTuple):
    name: str  # of the capture
    options: tuple[str, ...]  # of `memoir run`
    program: tuple[str, ...]  # after `python`
    fails: bool = False


class Sample(NamedTuple):
    title: str
    text: str
    recordings: tuple[Recording, ...]  # the last one is shown, and compared with the one before it
    script: str  # for the start page's command


H100 = ("--simulate", "h100")
SAMPLES = (
    Sample(
        "Training",
        "Four training steps of a small Llama: who holds the memory at the peak, and how it comes and goes over time.",
        (Recording("training", H100, (str(LLAMA), *SMALL)),),
        "memoir report training",
    ),
    Sample(
        "Out of memory",
        "A larger model on a card of 22 GiB. The run ends in an error: what filled the card, and what would have helped.",
        (Recording("out-of-memory", ("--simulate", "l4"), (str(LLAMA), "--width", "2048", "--hidden", "5632", "--layers", "16", "--batch", "16"), True),),
        "memoir report out-of-memory",
    ),
    Sample(
        "A leak on one rank of eight",
        "A data-parallel job in which one rank keeps the scores of each step. The report opens on this rank.",
        (Recording("one-rank-leaks", H100, ("-m", "torch.distributed.run", "--nproc-per-node", "8", str(HERE / "one_rank_keeps.py"))),),
        "memoir report one-rank-leaks",
    ),
    Sample(
        "Before and after a change",
        "The same training without activation checkpointing, compared with a run that has it: where the new bytes are.",
        (Recording("checkpointed", H100, (str(LLAMA), *SMALL, "--recompute")), Recording("compared", H100, (str(LLAMA), *SMALL))),
        "memoir report compared --baseline checkpointed",
    ),
)

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Memoir: sample reports</title>
<style>
  :root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
  body {{ max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }}
  li {{ margin: 1.2rem 0; }}
  code {{ font-size: 0.9em; }}
  pre {{ margin: 0.3rem 0; padding: 0.5rem 0.7rem; overflow-x: auto; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 6px; }}
</style>
<h1>Memoir: sample reports</h1>
<p>Each page is one file that <code>memoir report</code> wrote. The programs ran on a <em>simulated</em> GPU.</p>
<ul>
{items}
</ul>
</html>
"""
ITEM = """  <li><a href="{file}"><strong>{title}</strong></a><br>{text}
    <pre>{commands}</pre></li>"""


def record(memoir: pathlib.Path, recording: Recording, captures: pathlib.Path) -> None:
    command = [memoir, "run", "-q", *recording.options, "-o", recording.name, "--", sys.executable, *recording.program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=captures)
    if (done.returncode != 0) != recording.fails:
        sys.exit(f"{shlex.join(map(str, command))}\nended with exit code {done.returncode}:\n{done.stderr[-2000:]}")


def command_of(recording: Recording) -> str:
    program = [pathlib.Path(word).name if word.endswith(".py") else word for word in recording.program]
    return shlex.join(["memoir", "run", *recording.options, "-o", recording.name, "--", "python", *program])


def make(memoir: pathlib.Path, folder: pathlib.Path) -> None:
    memoir, folder = memoir.resolve() if memoir.parent.name else memoir, folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    items = []
    with tempfile.TemporaryDirectory() as temporary:
        captures = pathlib.Path(temporary)
        for sample in SAMPLES:
            print(f"- {sample.title} ...", flush=True)
            for recording in sample.recordings:
                record(memoir, recording, captures)
            *before, shown = (recording.name for recording in sample.recordings)
            baseline = ["--baseline", before[0]] if before else []
            file = folder / f"{shown}.html"
            subprocess.run([memoir, "report", shown, *baseline, "-o", file], check=True, capture_output=True, cwd=captures)
            commands = "\n".join([*map(command_of, sample.recordings), sample.script])
            items.append(ITEM.format(file=file.name, title=sample.title, text=html.escape(sample.text), commands=html.escape(commands)))
    (folder / "index.html").write_text(PAGE.format(items="\n".join(items)))
    print(f"wrote {folder / 'index.html'} and {len(SAMPLES)} reports")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memoir", type=pathlib.Path, default=pathlib.Path("memoir"), help="the program; default: the one in PATH")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    make(arguments.memoir, arguments.folder)
