"""Trees as pictures for papers, pages and notebooks."""
