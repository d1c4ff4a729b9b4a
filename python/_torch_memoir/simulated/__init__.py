"""What only a process on the simulated GPU needs: values of small tensors, and a rank without the others."""
