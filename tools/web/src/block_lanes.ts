// Places the bands of blocks: each is as high as its bytes, at the lowest place that is free for its whole life. So a
// band never moves, and gaps below the top are freed memory.

export interface Lanes {
  offset: Float64Array;  // by place in `which`
  height: number;
}

interface Free {
  at: number;
  size: number;
}

// `which`: blocks by begin.
export function layLanes(which: Uint32Array, begin: Float64Array, end: Float64Array, bytes: Float64Array): Lanes {
  const offset = new Float64Array(which.length);
  const byEnd = Uint32Array.from(which.keys()).sort((a, b) => end[which[a]!]! - end[which[b]!]!);
  const free: Free[] = [];  // by place, never touching
  let top = 0;
  let height = 0;
  let ended = 0;
  const give = (at: number, size: number): void => {
    let low = 0;
    let high = free.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (free[middle]!.at < at)
        low = middle + 1;
      else
        high = middle;
    }
    const before = free[low - 1];
    const after = free[low];
    const joinsBefore = before !== undefined && before.at + before.size === at;
    const joinsAfter = after !== undefined && at + size === after.at;
    if (joinsBefore && joinsAfter) {
      before.size += size + after.size;
      free.splice(low, 1);
    } else if (joinsBefore)
      before.size += size;
    else if (joinsAfter) {
      after.at = at;
      after.size += size;
    } else
      free.splice(low, 0, {at, size});
    const last = free[free.length - 1]!;
    if (last.at + last.size === top) {
      top = last.at;
      free.pop();
    }
  };
  for (let i = 0; i < which.length; ++i) {
    const block = which[i]!;
    while (ended < byEnd.length && end[which[byEnd[ended]!]!]! <= begin[block]!) {
      const old = byEnd[ended++]!;
      if (old < i) give(offset[old]!, bytes[which[old]!]!);
    }
    const size = bytes[block]!;
    const hole = free.findIndex((one) => one.size >= size);
    if (hole < 0) {
      offset[i] = top;
      top += size;
      height = Math.max(height, top);
      continue;
    }
    const taken = free[hole]!;
    offset[i] = taken.at;
    taken.at += size;
    taken.size -= size;
    if (taken.size === 0) free.splice(hole, 1);
  }
  return {offset, height};
}
