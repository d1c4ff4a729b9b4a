-- What each rank holds at the peak of its devices, by category (as memoir show --by category)
WITH held AS (
  SELECT rank, process, device, category, sum(bytes) AS bytes, count(*) AS blocks
  FROM peak_blocks GROUP BY rank, process, device, category
  UNION ALL
  -- What is left of the peak: of parts that --max-size evicted.
  SELECT summary.rank, summary.process, summary.device, '(not in the capture)',
         max(summary.peak_allocated_bytes) - coalesce(sum(peak_blocks.bytes), 0), NULL
  FROM summary LEFT JOIN peak_blocks
    ON summary.rank = peak_blocks.rank AND summary.process = peak_blocks.process AND summary.device = peak_blocks.device
  GROUP BY summary.rank, summary.process, summary.device
)
SELECT held.rank, held.process, held.device, held.category,
       CAST(held.bytes AS BIGINT) AS bytes, held.blocks,
       CAST(held.bytes AS DOUBLE) / summary.peak_allocated_bytes AS part_of_peak
FROM held JOIN summary
  ON summary.rank = held.rank AND summary.process = held.process AND summary.device = held.device
WHERE held.bytes > 0
ORDER BY held.rank, held.process, held.device, bytes DESC, held.category;
