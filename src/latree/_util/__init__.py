"""Shared by all folders: arrays, files, threads, progress, checkpoints, texts, lazy imports."""
