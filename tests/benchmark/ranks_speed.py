"""The time of a job's overview, by its number of ranks: ranks_speed.py [--memoir PATH] [--write-job PATH] [--ranks 64 512 4096 10000] [--folder DIR]

A model that is parallel three ways (parallel_model.py) is recorded on the simulated device, one rank of each stage of its pipeline, and each of the job's ranks is a copy of
one of these recordings in turn. Figures, each one process's: writing the summaries, the overview from them, the overview if one rank in a hundred has no
summary, and for up to `--recordings` ranks the overview without summaries. Wall time, processor time, and the process's peak memory. The files were just
written or read: they are in the page cache.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from query_speed import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORLD, ROLES, STEPS = 64, (0, 17, 33, 49), 20


def record_roles(memoir, folder):
    for rank in ROLES:
        command = [memoir, "run", "-q", "--stacks", "python", "--simulate", "h100", "--sim-rank", rank, "--sim-world", WORLD, "-o", folder / str(rank), "--"]
        subprocess.run([*map(str, command), sys.executable, str(ROOT / "tests/benchmark/parallel_model.py"), str(STEPS)], check=True)
    return [str(folder / str(rank)) for rank in ROLES]


def size_of(folder, suffix):
    return sum(file.stat().st_size for file in folder.iterdir() if file.name.endswith(suffix))


def remove_summaries(folder, every):
    for number, file in enumerate(sorted(folder.glob("*.memoir-summary"))):
        if number % every == 0:
            file.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--write-job", default=str(ROOT / "build" / "release" / "tests" / "captures" / "memoir_write_job"))
    parser.add_argument("--ranks", type=int, nargs="*", default=[64, 512, 4096, 10000])
    parser.add_argument("--recordings", type=int, default=4096, help="without summaries up to so many ranks")
    parser.add_argument("--folder", type=pathlib.Path, help="where the jobs are made [a folder of its own, removed at the end]")
    arguments = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-", dir=arguments.folder))
    try:
        roles = record_roles(arguments.memoir, scratch)

        def show(folder, what):
            seconds, processor, mebibytes = run([arguments.memoir, "show", "--by", "job", "--json", str(folder)])
            print(f"  {what:34}{seconds:8.1f} s{processor:8.1f} s of CPU{mebibytes:7.0f} MiB", flush=True)
            return json.loads(subprocess.run([arguments.memoir, "show", "--by", "job", "--json", str(folder)], check=True, capture_output=True).stdout)

        for ranks in arguments.ranks:
            job = scratch / f"job-{ranks}"
            subprocess.run([arguments.write_job, job, str(ranks), "--skew", *roles], check=True)
            without = show(job, "overview without summaries") if ranks <= arguments.recordings else None
            seconds, processor, mebibytes = run([arguments.memoir, "summarize", str(job)])
            print(f"  {'summarize':34}{seconds:8.1f} s{processor:8.1f} s of CPU{mebibytes:7.0f} MiB", flush=True)
            whole = show(job, "overview")
            print(f"  {ranks:,} ranks, {whole['events']:,} events, recordings {size_of(job, '.memoir') / 2**20:,.0f} MiB, summaries {size_of(job, '-summary') / 2**20:,.1f} MiB", flush=True)
            remove_summaries(job, 100)
            part = show(job, "overview, 1 in 100 without summary")
            for other in filter(None, (without, part)):
                assert {**other, "summaries": None} == {**whole, "summaries": None}, "the overviews differ"
            shutil.rmtree(job)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
