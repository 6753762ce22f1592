"""What all rooms use: arrays, files, threads, progress, checkpoints."""
