-- What ranks with the same modules hold at their peaks, by category: the least, the median and the most of a rank
WITH held AS (
  SELECT rank, process, device, category, sum(bytes) AS bytes FROM peak_blocks GROUP BY rank, process, device, category
),
kinds AS (SELECT DISTINCT category FROM held),
-- A rank that holds nothing of a category holds 0 of it.
every AS (
  SELECT roles.role, summary.rank, split_part(summary.device, ':', 1) AS device, kinds.category,
         coalesce(held.bytes, 0) AS bytes
  FROM summary JOIN roles ON roles.rank = summary.rank CROSS JOIN kinds
    LEFT JOIN held ON held.rank = summary.rank AND held.process = summary.process AND held.device = summary.device
      AND held.category = kinds.category
)
SELECT role, device, category,
       count(DISTINCT rank) AS ranks,
       CAST(min(bytes) AS BIGINT) AS least_bytes,
       CAST(floor(median(bytes)) AS BIGINT) AS median_bytes,
       CAST(max(bytes) AS BIGINT) AS most_bytes,
       CAST(sum(bytes) AS BIGINT) AS bytes
FROM every
GROUP BY role, device, category
HAVING sum(bytes) > 0
ORDER BY role, device, bytes DESC, category;
