"""The rank of this process, from variables that launchers set. A copy of proto/memoir/launchers.def; tests/rules compares the two."""

from __future__ import annotations

import os
import re

# (rank, unless) of each row, in the order of the rows.
_LAUNCHERS_RANKS = (
    ("MEMOIR_RANK", ""),
    ("RANK", ""),
    ("OMPI_COMM_WORLD_RANK", "TORCHELASTIC_RUN_ID"),
    ("PMI_RANK", "TORCHELASTIC_RUN_ID"),
    ("PMIX_RANK", "TORCHELASTIC_RUN_ID"),
    ("SLURM_PROCID", "TORCHELASTIC_RUN_ID"),
)


def launchers_rank() -> int | None:
    """Returns the number in the first variable that contains one. None if no variable contains a number."""
    for rank, unless in _LAUNCHERS_RANKS:
        number = os.environ.get(rank, "")
        if re.fullmatch("[0-9]+", number) and int(number) < 2**32 and not os.environ.get(unless):
            return int(number)
    return None
