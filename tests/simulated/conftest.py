"""On a real GPU (TESTED_ON_GPU=1) only what knows nothing of the simulation is run."""

import pytest

from simulation import ON_GPU

# Programs of torch alone; the others test options, values, tables and messages of the simulated device, or record on it.
ALSO_ON_A_GPU = {"test_cuda_memory", "test_management_library", "test_operators", "test_random_programs", "test_traces", "test_training"}


def pytest_collection_modifyitems(items):
    if not ON_GPU:
        return
    for item in items:
        if item.path.stem not in ALSO_ON_A_GPU:
            item.add_marker(pytest.mark.skip(reason="about the simulated device itself"))
