/** Finds objects by the uid of an owner, and pods by their node, without a look at each key. */
export const relations = {
  id: '0003-relations',
  sql: `
    -- r: what durable-objects/relations.ts makes of the object at key k.
    CREATE TABLE related (r TEXT NOT NULL, k TEXT NOT NULL, PRIMARY KEY (r, k)) STRICT, WITHOUT ROWID;
    -- of what was stored before: more than 16 are one
    INSERT OR IGNORE INTO related (r, k)
      SELECT o.value, cur.k FROM cur, json_each(cur.l, '$.o') AS o WHERE instr(cur.l, '"o":[');
    INSERT OR IGNORE INTO related (r, k)
      SELECT 'spec.nodeName=' || node, k FROM (
        SELECT json_extract(l, '$.f."spec.nodeName"') AS node, k FROM cur WHERE instr(l, '"spec.nodeName":')
      ) WHERE coalesce(node, '') <> '';
    INSERT OR IGNORE INTO related (r, k) SELECT '*', k FROM related GROUP BY k HAVING COUNT(*) > 16;
    DELETE FROM related WHERE r <> '*' AND k IN (SELECT k FROM related WHERE r = '*');
  `,
}
