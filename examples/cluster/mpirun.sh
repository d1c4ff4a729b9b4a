#!/usr/bin/env bash
# mpirun.sh N [OPTIONS OF MPIRUN]: N ranks on this machine, or on those of --hostfile; all record into one folder, which all machines must see.
set -euo pipefail
ranks=$1
shift
# mpirun stops at its first word that is no option; Open MPI tells each process its rank, which Memoir reads.
exec mpirun -n "$ranks" "$@" "${TREE:-/shared/memoir}/bin/memoir" run -o "${CAPTURE:-mpi-train}" -- python "${TRAIN:-train.py}"
