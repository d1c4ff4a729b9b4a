"""Who holds the tensors of this process (`--holders`)."""
