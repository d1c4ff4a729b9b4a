-- Which lines of the program hold the bytes at the peaks, over all ranks (as memoir show --by line)
SELECT CASE WHEN is_of_library THEN '(library workspace)' ELSE coalesce(file, '(no line)') END AS file,
       CASE WHEN NOT is_of_library THEN line END AS line,
       CASE WHEN is_of_library THEN '' ELSE coalesce(function, '') END AS function,
       CAST(sum(bytes) AS BIGINT) AS bytes,
       count(*) AS blocks,
       count(DISTINCT rank) AS ranks
FROM peak_blocks
GROUP BY 1, 2, 3
ORDER BY bytes DESC, file, line NULLS FIRST, function;
