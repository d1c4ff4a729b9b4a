-- Blocks that were live at the peak of their device. Libraries (cuBLAS) took some from PyTorch for themselves.
CREATE OR REPLACE TEMPORARY VIEW peak_blocks AS
SELECT blocks.*, blocks.rule = 'workspace' AND coalesce(summary.peak_reserved_bytes, 0) > 0 AS is_of_library
FROM blocks JOIN summary
  ON summary.rank = blocks.rank AND summary.process = blocks.process AND summary.device = blocks.device
WHERE blocks.allocated_ns <= summary.peak_time_ns
  AND (blocks.freed_ns IS NULL OR blocks.freed_ns > summary.peak_time_ns);
