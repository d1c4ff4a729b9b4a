-- Ranks that are each other's peers: those whose models have the same modules. A role has the number
-- of its lowest rank. Processes that are no rank (-1) are nobody's peers.
CREATE OR REPLACE TEMPORARY VIEW roles AS
WITH models AS (
  SELECT rank, count(*) AS modules, min(path) AS first_path, max(path) AS last_path, sum(length(path)) AS letters
  FROM modules GROUP BY rank
)
SELECT known.rank AS rank,
       min(known.rank) OVER (PARTITION BY known.rank < 0, modules, first_path, last_path, letters) AS role
FROM (SELECT DISTINCT rank FROM ranks) AS known LEFT JOIN models ON models.rank = known.rank;
