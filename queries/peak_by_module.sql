-- Which modules hold the bytes at the peaks, over all ranks (as memoir show --by module)
SELECT CASE WHEN held.is_of_library THEN '(library workspace)' ELSE coalesce(modules.root, '(no module)') END AS root,
       CASE WHEN held.is_of_library THEN '' ELSE coalesce(modules.path, '') END AS path,
       CAST(sum(held.bytes) AS BIGINT) AS bytes,
       count(*) AS blocks,
       count(DISTINCT held.rank) AS ranks
FROM peak_blocks AS held LEFT JOIN modules ON modules.rank = held.rank AND modules.module = held.module
GROUP BY 1, 2
ORDER BY bytes DESC, root, path;
