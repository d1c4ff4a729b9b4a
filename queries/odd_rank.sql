-- Which ranks are out of line, as memoir check ranks finds them; each peak, and how far it is from its peers' median
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
found AS (
  SELECT rank, process, compared_device AS device, out_of_line FROM ranks WHERE out_of_line IS NOT NULL
),
differences AS (
  SELECT every.rank, every.process, every.device, every.category, every.bytes - category_medians.median_bytes AS bytes,
         row_number() OVER (PARTITION BY every.rank, every.process, every.device
                            ORDER BY abs(every.bytes - category_medians.median_bytes) DESC, every.category) AS place
  FROM every JOIN category_medians
    ON category_medians.role = every.role AND category_medians.kind = every.kind
      AND category_medians.category = every.category
)
SELECT peaks.rank, peaks.device, peaks.role, medians.ranks, found.out_of_line,
       peaks.peak_allocated_bytes AS peak_bytes, medians.median_bytes,
       peaks.peak_allocated_bytes - medians.median_bytes AS off_bytes,
       CASE WHEN differences.bytes <> 0 THEN differences.category END AS most_in,
       CASE WHEN differences.bytes <> 0 THEN differences.bytes END AS of_that_bytes
FROM peaks JOIN medians ON medians.role = peaks.role AND medians.kind = peaks.kind
  LEFT JOIN differences ON differences.rank = peaks.rank AND differences.process = peaks.process
    AND differences.device = peaks.device AND differences.place = 1
  LEFT JOIN found ON found.rank = peaks.rank AND found.process = peaks.process AND found.device = peaks.device
WHERE medians.ranks > 1
ORDER BY CASE WHEN found.out_of_line IS NULL THEN 1 ELSE 0 END, abs(peaks.peak_allocated_bytes - medians.median_bytes) DESC, peaks.rank, peaks.process, peaks.device;
