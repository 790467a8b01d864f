#!/bin/bash
# A Slurm array with one task for each shard. PROGRAM is a program with the ready-made commands, and
# RESULTS a folder that all nodes see. When a node fails, Slurm starts its tasks again elsewhere, and they
# go on where they were.
#   PROGRAM=target/release/examples/jobs RESULTS=~/results/1 sbatch --wait examples/farm/slurm.sh
#SBATCH --job-name=explore
#SBATCH --array=0-7
#SBATCH --requeue
#SBATCH --open-mode=append
exec "$PROGRAM" explore examples/jobs/lossy.toml --keep-going --seeds 0..1000 \
  --threads "${SLURM_CPUS_ON_NODE:-1}" --shard auto --results "$RESULTS"
