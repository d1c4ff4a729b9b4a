#!/usr/bin/env bash
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --output=%x-%j.log
# sbatch slurm_pyxis.sh: the tasks run in an image that knows nothing of Memoir, into which Pyxis mounts the tree,
# the folder from which the job is submitted (as /workspace) and one for captures.
set -euo pipefail
image=${IMAGE:-registry.example.com#train:1}
tree=${TREE:-/shared/memoir}
captures=${CAPTURES:-$PWD/captures}
mkdir -p "$captures"

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

# One task for each node, in which torchrun starts one process for each GPU. The folder has one name for all nodes.
srun --container-image="$image" --container-mounts="$tree:/memoir:ro,$PWD:/workspace:ro,$captures:/captures" \
  --no-container-mount-home --container-workdir=/workspace \
  /memoir/bin/memoir run -o "/captures/train-$SLURM_JOB_ID" -- \
  torchrun --nnodes "$SLURM_NNODES" --nproc-per-node "${SLURM_GPUS_ON_NODE:-4}" \
  --rdzv-backend c10d --rdzv-id "$SLURM_JOB_ID" --rdzv-endpoint "$head:$((20000 + SLURM_JOB_ID % 20000))" "${TRAIN:-train.py}"
