-- How long blocks live: how many, and how many bytes, by the length of their lives
WITH lives AS (
  SELECT device, bytes, CASE WHEN freed_ns IS NULL THEN 8
                             WHEN freed_ns - allocated_ns < 1000 THEN 0
                             WHEN freed_ns - allocated_ns < 10000 THEN 1
                             WHEN freed_ns - allocated_ns < 100000 THEN 2
                             WHEN freed_ns - allocated_ns < 1000000 THEN 3
                             WHEN freed_ns - allocated_ns < 10000000 THEN 4
                             WHEN freed_ns - allocated_ns < 100000000 THEN 5
                             WHEN freed_ns - allocated_ns < 1000000000 THEN 6
                             ELSE 7 END AS place
  FROM blocks
)
SELECT split_part(device, ':', 1) AS device,
       CASE place WHEN 0 THEN 'below 1 us' WHEN 1 THEN 'below 10 us' WHEN 2 THEN 'below 100 us' WHEN 3 THEN 'below 1 ms'
                  WHEN 4 THEN 'below 10 ms' WHEN 5 THEN 'below 100 ms' WHEN 6 THEN 'below 1 s' WHEN 7 THEN '1 s and more'
                  ELSE 'live at the end' END AS life,
       count(*) AS blocks,
       CAST(sum(bytes) AS BIGINT) AS bytes,
       max(bytes) AS largest_bytes
FROM lives
GROUP BY 1, 2, place
ORDER BY 1, place;
