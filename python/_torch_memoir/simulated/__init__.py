"""For processes on the simulated GPU: computes values of small tensors, and runs one rank of a job without the others."""
