"""Search for the structure of a latent tree: tests and moves on a fitted model, each scored on soft evidence."""
