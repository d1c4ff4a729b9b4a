// Layers of a model as one: "blocks.*.mlp" for "blocks.0.mlp", "blocks.1.mlp" and so on.
import type {Columns, Row} from '../report/facts';

// A path of numbers alone stays, because the root of the model may be an nn.Sequential, whose parts are not layers.
export const withLayersMerged = (path: string): string =>
    /[^\d.]/.test(path) ? path.replace(/(^|\.)\d+(?=\.|$)/g, '$1*') : path;

const kSummed: (keyof Columns)[] = [
  'allocations', 'allocated_bytes', 'deallocations', 'deallocated_bytes', 'net_blocks', 'net_bytes', 'bytes_at_peak',
  'blocks_at_peak', 'temporaries', 'temporary_bytes', 'reserved_bytes'
];

// Adds up columns. The mean life covers all freed blocks.
export function sumOfColumns(all: Columns[]): Columns {
  const sum = {...all[0]!};
  for (const key of kSummed) sum[key] = all.reduce((total, columns) => total + (columns[key] ?? 0), 0);
  const lives = all.reduce((total, {mean_life_ns, deallocations}) => total + mean_life_ns * deallocations, 0);
  sum.mean_life_ns = sum.deallocations > 0 ? lives / sum.deallocations : 0;
  return sum;
}

// Returns one row for several layers. Its class is empty if the layers have different classes.
export function sumOfRows(rows: Row[]): Row {
  const columnsOf = (key: 'subtree'|'parameter'|'gradient'|'optimizer_state'): Columns|undefined => {
    const known = rows.flatMap((row) => row[key] ?? []);
    return known.length > 0 ? sumOfColumns(known) : undefined;
  };
  const first = rows[0]!;
  const made: Row = {...first, ...sumOfColumns(rows), name: withLayersMerged(first.name)};
  if (first.count !== undefined) made.count = rows.reduce((sum, row) => sum + (row.count ?? 0), 0);
  if (rows.some((row) => row.class !== first.class)) made.class = '';
  for (const key of ['subtree', 'parameter', 'gradient', 'optimizer_state'] as const) {
    const columns = columnsOf(key);
    if (columns) made[key] = columns;
  }
  return made;
}
