-- Ranks that are each other's peers, as memoir check ranks has them: a role has the number of its lowest rank.
-- Processes that are no rank (-1) are nobody's peers.
CREATE OR REPLACE TEMPORARY VIEW roles AS
SELECT rank, coalesce(min(role), rank) AS role FROM ranks GROUP BY rank;
