-- Which modules hold the bytes at the peaks, over all ranks (as memoir show --by module)
SELECT coalesce(modules.root, '(no module)') AS root, coalesce(modules.path, '') AS path,
       CAST(sum(peak_blocks.bytes) AS BIGINT) AS bytes,
       count(*) AS blocks,
       count(DISTINCT peak_blocks.rank) AS ranks
FROM peak_blocks LEFT JOIN modules ON modules.rank = peak_blocks.rank AND modules.module = peak_blocks.module
GROUP BY 1, 2
ORDER BY bytes DESC, root, path;
