-- Which lines of the program hold the bytes at the peaks, over all ranks (as memoir show --by line)
SELECT coalesce(file, '(no line)') AS file, line, coalesce(function, '') AS function,
       CAST(sum(bytes) AS BIGINT) AS bytes,
       count(*) AS blocks,
       count(DISTINCT rank) AS ranks
FROM peak_blocks
GROUP BY 1, 2, 3
ORDER BY bytes DESC, file, line NULLS FIRST, function;
