"""Runs the scripts of a folder, each marked region once: under torch.profiler and, in the same process, recorded by Memoir.

    memoir run -o CAPTURE -- python oracle_live.py OUT.json SCRIPT...

A script has main(), in which `with torch.profiler.record_function("oracle::region")` marks a region. OUT.json has for each region, in the order in which they
ran, the script's name and torch.profiler's results.
"""

import gc
import importlib.util
import json
import pathlib
import sys

import torch

import torch_profile

RANGE = "oracle::region"
REGIONS = []
record_function = torch.profiler.record_function


class Region:
    """record_function, and around the ranges of RANGE torch.profiler."""

    def __init__(self, name, args=None):
        self.range = record_function(name, args)
        # Without CUDA's activity: no kernel is compared, and CUPTI sees none on the simulated GPU.
        host = [torch.profiler.ProfilerActivity.CPU]
        self.profiler = torch.profiler.profile(activities=host, record_shapes=True, profile_memory=True, with_stack=True) if name == RANGE else None

    def __enter__(self):
        if self.profiler is not None:
            gc.collect()   # Tensors in cycles, freed between torch.profiler's start and the range's, would be torch.profiler's alone.
            self.profiler.__enter__()
        return self.range.__enter__()

    def __exit__(self, *error):
        self.range.__exit__(*error)
        if self.profiler is not None:
            self.profiler.__exit__(*error)
            REGIONS.append({"script": Region.script, "torch": torch_profile.document(self.profiler)})


def main():
    torch.profiler.record_function = Region
    for path in map(pathlib.Path, sys.argv[2:]):
        Region.script = path.stem
        spec = importlib.util.spec_from_file_location(path.stem, path)
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        torch.manual_seed(0)
        script.main()
    json.dump(REGIONS, open(sys.argv[1], "w"))


if __name__ == "__main__":
    main()
