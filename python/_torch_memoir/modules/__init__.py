"""Records which torch.nn.Module runs, and which tensors modules and optimizers hold."""
