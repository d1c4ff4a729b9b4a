"""The calls that a rank makes into the file system with the job's folder, counted by strace: files, changes of names (create, rename, remove, make a folder)
and look-ups of paths, in a job with this many ranks. Writes to an open file are not counted.

    build/venv/bin/python tests/benchmark/shared_folder.py --memoir build/install/bin/memoir
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
import sys, time, torch
net = torch.nn.Linear(256, 256)
end = time.time() + float(sys.argv[1])
while time.time() < end:
    net(torch.ones(64, 256)).sum().backward()
    time.sleep(0.01)
"""
CHANGES = {"mkdir", "unlink", "rename", "link", "symlink", "rmdir", "fchmodat", "chmod"}


def calls(line, job):
    """(process, kind) of a line of strace about a path in `job`, else None."""
    found = re.match(rf'(\d+) +(\w+)\([^"]*"{re.escape(str(job))}', line)
    if not found or found[2] == "execve":
        return None
    created = "O_CREAT" in line
    return int(found[1]), "changes" if created or found[2] in CHANGES else "looks"


def measure(memoir, ranks, seconds, folder):
    program, job, trace = folder / "program.py", folder / f"job{ranks}", folder / "trace"
    program.write_text(PROGRAM)
    variables = os.environ | {"RANK": "3", "WORLD_SIZE": str(ranks)}
    command = [memoir, "run", "-q", "-o", job, "--", sys.executable, program, str(seconds)]
    subprocess.run(["strace", "-f", "-e", "trace=%file", "-o", trace, *command], env=variables, check=True)
    lines = trace.read_text().splitlines()
    starter = int(lines[0].split()[0])
    counts = collections.Counter()
    for line in lines:
        if (call := calls(line, job)) is not None:
            counts["memoir run" if call[0] == starter else "rank", call[1]] += 1
    files = [file.name for file in job.iterdir()]
    assert any(name.endswith(".memoir") for name in files)
    return files, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", type=pathlib.Path, default=pathlib.Path("build/install/bin/memoir"))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 4096])
    options = parser.parse_args()
    if shutil.which("strace") is None:
        sys.exit("shared_folder.py: there is no strace here")
    print(f"{options.seconds} s of a training loop, one rank of so many:")
    print(f"{'ranks':>6} {'files':>6} {'changes by rank':>16} {'looks by rank':>14} {'changes by run':>15} {'looks by run':>13}")
    with tempfile.TemporaryDirectory() as folder:
        for ranks in options.ranks:
            files, counts = measure(options.memoir.resolve(), ranks, options.seconds, pathlib.Path(folder))
            print(f"{ranks:6} {len(files):6} {counts['rank', 'changes']:16} {counts['rank', 'looks']:14} {counts['memoir run', 'changes']:15}"
                  f" {counts['memoir run', 'looks']:13}")


if __name__ == "__main__":
    main()
