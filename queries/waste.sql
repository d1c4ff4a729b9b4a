-- How much of what PyTorch reserved on each GPU was not allocated: at the peak, and at the end
SELECT rank, process, device,
       peak_reserved_bytes,
       peak_allocated_bytes,
       reserved_bytes_at_peak - peak_allocated_bytes AS waste_at_peak_bytes,
       CAST(reserved_bytes_at_peak - peak_allocated_bytes AS DOUBLE) / reserved_bytes_at_peak AS part_of_reserved,
       reserved_bytes_at_end - live_bytes_at_end AS waste_at_end_bytes,
       num_alloc_retries AS retries
FROM summary
WHERE reserved_bytes_at_peak > 0
ORDER BY waste_at_peak_bytes DESC, rank, process, device;
