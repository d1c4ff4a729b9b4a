"""Records the work of torch.compile: when it compiles, and which operations of the program its code executes."""
