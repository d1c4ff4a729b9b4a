-- Which rank is furthest from the median peak of its peers (ranks with the same modules), and in which category
WITH peaks AS (
  SELECT roles.role, summary.rank, summary.process, summary.device, split_part(summary.device, ':', 1) AS kind,
         summary.peak_allocated_bytes
  FROM summary JOIN roles ON roles.rank = summary.rank
),
medians AS (
  SELECT role, kind, CAST(floor(median(peak_allocated_bytes)) AS BIGINT) AS median_bytes, count(DISTINCT rank) AS ranks
  FROM peaks GROUP BY role, kind
),
held AS (
  SELECT rank, process, device, category, CAST(sum(bytes) AS BIGINT) AS bytes
  FROM peak_blocks GROUP BY rank, process, device, category
),
kinds AS (SELECT DISTINCT category FROM held),
every AS (
  SELECT peaks.role, peaks.kind, peaks.rank, peaks.process, peaks.device, kinds.category,
         coalesce(held.bytes, 0) AS bytes
  FROM peaks CROSS JOIN kinds
    LEFT JOIN held ON held.rank = peaks.rank AND held.process = peaks.process AND held.device = peaks.device
      AND held.category = kinds.category
),
category_medians AS (
  SELECT role, kind, category, CAST(floor(median(bytes)) AS BIGINT) AS median_bytes FROM every GROUP BY role, kind, category
),
differences AS (
  SELECT every.rank, every.process, every.device, every.category, every.bytes - category_medians.median_bytes AS bytes,
         row_number() OVER (PARTITION BY every.rank, every.process, every.device
                            ORDER BY abs(every.bytes - category_medians.median_bytes) DESC, every.category) AS place
  FROM every JOIN category_medians
    ON category_medians.role = every.role AND category_medians.kind = every.kind
      AND category_medians.category = every.category
)
SELECT peaks.rank, peaks.device, peaks.role, medians.ranks,
       peaks.peak_allocated_bytes AS peak_bytes, medians.median_bytes,
       peaks.peak_allocated_bytes - medians.median_bytes AS off_bytes,
       CASE WHEN differences.bytes <> 0 THEN differences.category END AS most_in,
       CASE WHEN differences.bytes <> 0 THEN differences.bytes END AS of_that_bytes
FROM peaks JOIN medians ON medians.role = peaks.role AND medians.kind = peaks.kind
  LEFT JOIN differences ON differences.rank = peaks.rank AND differences.process = peaks.process
    AND differences.device = peaks.device AND differences.place = 1
WHERE medians.ranks > 1
ORDER BY abs(peaks.peak_allocated_bytes - medians.median_bytes) DESC, peaks.rank, peaks.process, peaks.device;
