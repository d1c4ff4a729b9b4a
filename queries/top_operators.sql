-- Which operators allocated the most bytes, over all ranks (as memoir show --by operator)
SELECT CASE WHEN rule = 'workspace' AND device LIKE 'cuda:%' THEN '(library workspace)'
            ELSE coalesce(operator, '(no operator)') END AS operator,
       CAST(sum(bytes) AS BIGINT) AS allocated_bytes,
       count(*) AS allocations,
       CAST(sum(CASE WHEN freed_ns IS NULL THEN bytes ELSE 0 END) AS BIGINT) AS kept_bytes,
       count(DISTINCT rank) AS ranks
FROM blocks
GROUP BY 1
ORDER BY allocated_bytes DESC, operator;
