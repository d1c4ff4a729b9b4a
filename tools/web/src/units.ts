// Numbers as tools/view/terminal/units.cc writes them.

export function formatBytes(bytes: number): string {
  const sign = bytes < 0 ? '-' : '';
  let value = Math.abs(bytes);
  if (value < 1024) return `${sign}${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = -1;
  do {
    value /= 1024;
    ++unit;
  } while (value >= 1023.95 && unit + 1 < units.length);
  return `${sign}${value.toFixed(1)} ${units[unit]}`;
}

export const formatCount = (count: number): string => Math.round(count).toLocaleString('en-US');

export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)}%`;
}

export function formatDuration(ns: number): string {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 999_950) return `${(ns / 1e3).toFixed(1)} µs`;
  if (ns < 999_950_000) return `${(ns / 1e6).toFixed(1)} ms`;
  const seconds = ns / 1e9;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds / 60) % 60)} min`;
}

// A point in time, as precisely as `step` asks for.
export function formatMoment(ns: number, step = 1e5): string {
  let digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(step, 1)))));
  if (digits < 9 && Math.round(step / 10 ** (8 - digits)) % 10 !== 0) ++digits;  // as of 2.5 ms
  return `${(ns / 1e9).toFixed(Math.max(digits, 3))} s`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
    `${formatCount(count)} ${count === 1 ? one : many}`;
