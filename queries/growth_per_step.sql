-- How many bytes are live on each device when a step begins, and how many more than when the one before began
-- Sums are sorted, not blocks: time is cut into buckets, four for each step, and the changes of a bucket become one
-- row, or one for each piece of it where steps begin in it.
WITH spans AS (
  SELECT rank, process, min(begin_ns) AS first_ns, max(begin_ns) AS last_ns,
         CAST(floor((max(begin_ns) - min(begin_ns)) / (4 * count(*))) AS BIGINT) + 1 AS width_ns
  FROM steps GROUP BY rank, process
),
begins AS (
  SELECT DISTINCT steps.rank, steps.process, steps.begin_ns, spans.last_ns,
         steps.begin_ns - (steps.begin_ns - spans.first_ns) % spans.width_ns AS bucket_ns
  FROM steps JOIN spans ON spans.rank = steps.rank AND spans.process = steps.process
),
numbered AS (
  SELECT rank, process, bucket_ns, begin_ns, last_ns,
         lead(begin_ns) OVER (PARTITION BY rank, process, bucket_ns ORDER BY begin_ns) AS next_ns,
         row_number() OVER (PARTITION BY rank, process, bucket_ns ORDER BY begin_ns) AS place,
         count(*) OVER (PARTITION BY rank, process, bucket_ns) AS begins_in_bucket
  FROM begins
),
-- From the begin of a step to the next one in the bucket, or to the end of the bucket. In a bucket with many of them
-- (short steps before or after a long pause) each change keeps its time, so that none is compared with all of them.
pieces AS (
  SELECT rank, process, bucket_ns, begin_ns, begins_in_bucket > 32 AS is_crowded,
         CASE WHEN begins_in_bucket > 32 THEN last_ns ELSE coalesce(next_ns, last_ns) END AS end_ns
  FROM numbered WHERE begins_in_bucket <= 32 OR place = 1
),
changes AS (
  SELECT rank, process, device, allocated_ns AS ns, bytes AS change FROM blocks
  UNION ALL
  SELECT rank, process, device, freed_ns, -bytes FROM blocks WHERE freed_ns IS NOT NULL
),
-- What comes before the first step is one bucket, and what comes after the last one is not needed.
in_buckets AS (
  SELECT changes.rank, changes.process, changes.device, changes.ns, changes.change,
         CASE WHEN changes.ns < spans.first_ns THEN spans.first_ns - 1
              ELSE changes.ns - (changes.ns - spans.first_ns) % spans.width_ns END AS bucket_ns
  FROM changes JOIN spans ON spans.rank = changes.rank AND spans.process = changes.process
  WHERE changes.ns < spans.last_ns
),
sums AS (
  SELECT in_buckets.rank, in_buckets.process, in_buckets.device,
         CASE WHEN pieces.is_crowded THEN in_buckets.ns ELSE coalesce(pieces.begin_ns, in_buckets.bucket_ns) END AS ns,
         sum(in_buckets.change) AS change
  FROM in_buckets LEFT JOIN pieces
    ON pieces.rank = in_buckets.rank AND pieces.process = in_buckets.process AND pieces.bucket_ns = in_buckets.bucket_ns
      AND in_buckets.ns >= pieces.begin_ns AND in_buckets.ns < pieces.end_ns
  GROUP BY 1, 2, 3, 4
),
sums_and_steps AS (
  SELECT rank, process, device, ns, CAST(change AS BIGINT) AS change, CAST(NULL AS BIGINT) AS step FROM sums
  UNION ALL
  SELECT steps.rank, steps.process, summary.device, steps.begin_ns, 0, steps.step
  FROM steps JOIN summary ON summary.rank = steps.rank AND summary.process = steps.process
),
running AS (
  SELECT rank, process, device, ns, step,
         sum(change) OVER (PARTITION BY rank, process, device ORDER BY ns, CASE WHEN step IS NULL THEN 1 ELSE 0 END, step
                           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS live_bytes
  FROM sums_and_steps
),
marks AS (
  SELECT rank, process, device, ns, step, CAST(live_bytes AS BIGINT) AS live_bytes FROM running WHERE step IS NOT NULL
)
SELECT rank, process, device, step, ns AS begin_ns, live_bytes,
       live_bytes - lag(live_bytes) OVER (PARTITION BY rank, process, device ORDER BY ns, step) AS grown_bytes
FROM marks
ORDER BY rank, process, device, begin_ns, step;
