-- How far the peaks of ranks with the same modules lie apart, and which rank has the highest
WITH peaks AS (
  SELECT roles.role, split_part(summary.device, ':', 1) AS device, summary.rank, summary.peak_allocated_bytes AS bytes,
         row_number() OVER (PARTITION BY roles.role, split_part(summary.device, ':', 1)
                            ORDER BY summary.peak_allocated_bytes DESC, summary.rank, summary.process) AS place
  FROM summary JOIN roles ON roles.rank = summary.rank
)
SELECT role, device,
       count(DISTINCT rank) AS ranks,
       min(bytes) AS least_bytes,
       CAST(floor(median(bytes)) AS BIGINT) AS median_bytes,
       max(bytes) AS most_bytes,
       max(bytes) - min(bytes) AS spread_bytes,
       max(CASE WHEN place = 1 THEN rank END) AS most_on_rank
FROM peaks
GROUP BY role, device
ORDER BY spread_bytes DESC, role, device;
