-- Which operators allocated the most bytes, over all ranks (as memoir show --by operator)
SELECT CASE WHEN blocks.rule = 'workspace' AND summary.peak_reserved_bytes > 0 THEN '(library workspace)'
            ELSE coalesce(blocks.operator, '(no operator)') END AS operator,
       CAST(sum(blocks.bytes) AS BIGINT) AS allocated_bytes,
       count(*) AS allocations,
       CAST(sum(CASE WHEN blocks.freed_ns IS NULL THEN blocks.bytes ELSE 0 END) AS BIGINT) AS kept_bytes,
       count(DISTINCT blocks.rank) AS ranks
FROM blocks JOIN summary
  ON summary.rank = blocks.rank AND summary.process = blocks.process AND summary.device = blocks.device
GROUP BY 1
ORDER BY allocated_bytes DESC, operator;
