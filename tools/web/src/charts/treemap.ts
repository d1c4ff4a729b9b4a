// Squarified treemap: areas are shares of bytes, as near to squares as they can be.

export interface Tile<T> {
  item: T;
  x: number;
  y: number;
  width: number;
  height: number;
}

export function treemap<T>(items: T[], size: (item: T) => number, width: number, height: number): Tile<T>[] {
  const sorted = items.filter((item) => size(item) > 0).sort((a, b) => size(b) - size(a));
  const total = sorted.reduce((sum, item) => sum + size(item), 0);
  const tiles: Tile<T>[] = [];
  if (total <= 0 || width <= 0 || height <= 0) return tiles;
  const scale = (width * height) / total;
  let [x, y, restWidth, restHeight] = [0, 0, width, height];
  for (let begin = 0; begin < sorted.length;) {
    const side = Math.min(restWidth, restHeight);
    let sum = 0;
    let end = begin;
    let worst = Infinity;
    // As many in a row as make its worst tile better.
    while (end < sorted.length) {
      const next = sum + size(sorted[end]!) * scale;
      const largest = size(sorted[begin]!) * scale;
      const smallest = size(sorted[end]!) * scale;
      const ratio = Math.max((side * side * largest) / (next * next), (next * next) / (side * side * smallest));
      if (ratio > worst) break;
      worst = ratio;
      sum = next;
      ++end;
    }
    const thickness = sum / side;
    let along = 0;
    for (let i = begin; i < end; ++i) {
      const length = (size(sorted[i]!) * scale) / thickness;
      tiles.push(
          restWidth >= restHeight ? {item: sorted[i]!, x, y: y + along, width: thickness, height: length} :
                                    {item: sorted[i]!, x: x + along, y, width: length, height: thickness},
      );
      along += length;
    }
    if (restWidth >= restHeight) {
      x += thickness;
      restWidth -= thickness;
    } else {
      y += thickness;
      restHeight -= thickness;
    }
    begin = end;
  }
  return tiles;
}
