"""The time of `memoir query`, by engine, on Parquet of 10^6 to 10^9 events: query_speed.py [--memoir PATH] [--events 1000000 10000000 ...] [--engines duckdb
spark] [--queries NAME ...] [--python PATH] [--folder DIR]

A small training program is recorded for a million events and exported, and its tables are written once for each rank, with the rank's number as process, so that N
million events are N ranks. Only tables that the queries read are written: blocks, modules, steps, ranks and summary (events and operators are not). Events are
counted as in the capture: ranges and what happens to memory. Each figure is one process's: wall time, processor time, and its peak memory.
"""

import argparse
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from category_speed import EVENTS_IN_A_STEP

ROOT = pathlib.Path(__file__).resolve().parents[2]
OF_A_RANK = 1_000_000
PARTITIONED = ("blocks", "modules", "steps")


def make_template(memoir, folder):
    """Tables of a recording of about OF_A_RANK events; their number."""
    command = [sys.executable, str(ROOT / "tests/benchmark/category_speed.py"), "--train", str(OF_A_RANK // EVENTS_IN_A_STEP)]
    subprocess.run([memoir, "run", "-q", "-o", folder / "capture", "--", *command], check=True)
    subprocess.run([memoir, "export", "parquet", "--tables", "ranks,summary,blocks,modules,steps", folder / "capture", "-o", f"{folder / 'template'}/"], check=True)
    return json.loads(subprocess.run([memoir, "show", "--json", "--top", "1", folder / "capture"], check=True, capture_output=True).stdout)["events"]


def make_job(template, folder, ranks):
    """Writes the tables of a job with this many ranks. Rank 7's blocks are a tenth larger: it is the odd one."""
    import duckdb

    def write(name, columns, source, file):
        file.parent.mkdir(parents=True, exist_ok=True)
        duckdb.sql(f"COPY (SELECT * REPLACE ({columns}) FROM {source}) TO '{file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 65536)")
        return file.stat().st_size

    manifest = {"format": "memoir tables", "version": 1, "partitioned_by": "rank", "files": {}, "ranks": [], "missing_ranks": []}
    for name in ("ranks", "summary"):
        larger = ", CASE WHEN number = 7 THEN peak_allocated_bytes + peak_allocated_bytes // 10 ELSE peak_allocated_bytes END AS peak_allocated_bytes" if name == "summary" else ""
        manifest["files"][name] = write(name, f"number AS process, number AS rank{larger}", f"(SELECT * FROM '{template / name}.parquet' CROSS JOIN range({ranks}) AS numbers(number))", folder / name / f"{name}.parquet")
    for rank in range(ranks):
        files = {}
        for name in PARTITIONED:
            replaced = {"modules": "module AS module", "steps": f"{rank} AS process"}.get(name) or f"{rank} AS process, bytes {'+ bytes // 10' if rank == 7 else ''} AS bytes"
            files[name] = write(name, replaced, f"'{template / name}.parquet'", folder / name / f"rank={rank}" / f"{name}.parquet")
        manifest["ranks"].append({"rank": rank, "files": files})
    (folder / "_memoir.json").write_text(json.dumps(manifest))


def queries(memoir):
    said = subprocess.run([memoir, "query"], check=True, capture_output=True, text=True, env={"COLUMNS": "1000"}).stdout
    return [line.split()[0] for line in said.splitlines()]


def run(command):
    """(seconds, seconds of the processor, MiB of the largest process)"""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(["/usr/bin/env", "python3", "-c", MEASURE, *command], capture_output=True, text=True)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(done.stderr.split()[-1]) / 1024


# ru_maxrss is the largest child's so far, so each command has a parent process to itself, which also waits for processes that it leaves (Spark's Java; 36:
# PR_SET_CHILD_SUBREAPER).
MEASURE = """
import contextlib, ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
with contextlib.suppress(ChildProcessError):
    while os.wait():
        pass
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def size_of(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--events", type=int, nargs="*", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--engines", nargs="*", default=["duckdb", "spark"])
    parser.add_argument("--queries", nargs="*", default=[])
    parser.add_argument("--python", default=str(ROOT / "build" / "venv-spark" / "bin" / "python"), help="that has the engines")
    parser.add_argument("--folder", type=pathlib.Path, help="made jobs are kept there, and used again")
    arguments = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    kept = arguments.folder or scratch
    try:
        if not (kept / "template").exists():
            kept.mkdir(exist_ok=True)
            (kept / "events").write_text(str(make_template(arguments.memoir, kept)))
        in_a_rank = int((kept / "events").read_text())
        for wanted in arguments.events:
            ranks = max(1, wanted // OF_A_RANK)
            job = kept / f"job-{ranks}"
            if not (job / "_memoir.json").exists():
                begin = time.perf_counter()
                make_job(kept / "template", job, ranks)
                print(f"made {ranks} ranks in {time.perf_counter() - begin:.0f} s", flush=True)
            print(f"{ranks:,} ranks, {ranks * in_a_rank:,} events, {size_of(job) / 2**20:,.0f} MiB", flush=True)
            for name in arguments.queries or queries(arguments.memoir):
                for engine in arguments.engines:
                    seconds, processor, mebibytes = run([arguments.memoir, "query", name, str(job), "--json", "--engine", engine, "--python", arguments.python])
                    print(f"  {name:18}{engine:8}{seconds:9.1f} s{processor:9.1f} s of CPU{mebibytes:8.0f} MiB", flush=True)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
