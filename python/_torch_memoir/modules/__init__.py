"""What torch.nn and torch.optim tell a recording: which module runs, what modules and optimizers hold."""
