"""What a fitted model says and is worth: groups, loadings, scores of rows, order of states, gain on new rows."""
