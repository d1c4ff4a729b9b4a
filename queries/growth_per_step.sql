-- How many bytes are live on each device when a step begins, and how many more than when the one before began
WITH changes AS (
  SELECT rank, process, device, allocated_ns AS ns, bytes AS change, CAST(NULL AS BIGINT) AS step FROM blocks
  UNION ALL
  SELECT rank, process, device, freed_ns, -bytes, CAST(NULL AS BIGINT) FROM blocks WHERE freed_ns IS NOT NULL
  UNION ALL
  SELECT steps.rank, steps.process, summary.device, steps.begin_ns, 0, steps.step
  FROM steps JOIN summary ON summary.rank = steps.rank AND summary.process = steps.process
),
running AS (
  SELECT rank, process, device, ns, step,
         sum(change) OVER (PARTITION BY rank, process, device ORDER BY ns, CASE WHEN step IS NULL THEN 1 ELSE 0 END, step
                           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS live_bytes
  FROM changes
),
marks AS (
  SELECT rank, process, device, ns, step, CAST(live_bytes AS BIGINT) AS live_bytes FROM running WHERE step IS NOT NULL
)
SELECT rank, process, device, step, ns AS begin_ns, live_bytes,
       live_bytes - lag(live_bytes) OVER (PARTITION BY rank, process, device ORDER BY ns, step) AS grown_bytes
FROM marks
ORDER BY rank, process, device, begin_ns, step;
