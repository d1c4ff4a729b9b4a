"""What torch.compile tells a recording: when it works, and for which lines its code stands."""
