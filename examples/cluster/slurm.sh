#!/usr/bin/env bash
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --output=%x-%j.log
# sbatch slurm.sh: the tree lies on a file system that all nodes see, and so does the folder from which the job is submitted.
# The capture is memoir-slurm-JOB.STEP there; rank 0 writes its summary into the log.
set -euo pipefail
memoir=${TREE:-/shared/memoir}/bin/memoir

MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000)) WORLD_SIZE=$SLURM_NTASKS

# One task for each GPU. torch.distributed asks for RANK and LOCAL_RANK, which Slurm calls by other names.
# shellcheck disable=SC2016
srun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; exec "$@"' task "$memoir" run -- python "${TRAIN:-train.py}"
