// Numbers as tools/view/terminal/units.cc writes them.

// As printf rounds: of two nearest values the one with an even last digit, where toFixed() takes the larger.
function fixed(value: number, digits: number): string {
  const halves = value * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(digits);
  const power = 10 ** digits;
  return ((2 * Math.round((value * power) / 2)) / power).toFixed(digits);
}

const kUnits = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const kGib = 2;  // index in kUnits

// `digitsOf`: the digits behind the point for a value in kUnits[unit].
function inUnits(bytes: number, digitsOf: (value: number, unit: number) => number): string {
  const sign = bytes < 0 ? '-' : '';
  let value = Math.abs(bytes);
  if (value < 1024) return `${sign}${value} B`;
  let unit = -1;
  do {
    value /= 1024;
    ++unit;
  } while (value >= 1023.95 && unit + 1 < kUnits.length);
  return `${sign}${fixed(value, digitsOf(value, unit))} ${kUnits[unit]}`;
}

export const formatBytes = (bytes: number): string =>
    inUnits(bytes, (value, unit) => (unit >= kGib && value < 9.995 ? 2 : 1));

// A tick of an axis, with as many digits as its value has, at most three: "1.25 GiB".
export function formatTick(bytes: number): string {
  const isExact = (value: number, digits: number): boolean =>
      Math.abs(value * 10 ** digits - Math.round(value * 10 ** digits)) < 1e-6;
  return inUnits(bytes, (value) => [1, 2].find((digits) => isExact(value, digits)) ?? 3);
}

// With a sign: "+1.5 KiB", "−3 B", "0 B".
export const formatSigned = (bytes: number): string =>
    (bytes > 0 ? '+' : bytes < 0 ? '−' : '') + formatBytes(Math.abs(bytes));

export const formatCount = (count: number): string => Math.round(count).toLocaleString('en-US');

export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${fixed((100 * part) / whole, 1)}%`;
}

export function formatDuration(ns: number): string {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 999_950) return `${fixed(ns / 1e3, 1)} µs`;
  if (ns < 999_950_000) return `${fixed(ns / 1e6, 1)} ms`;
  const seconds = ns / 1e9;
  if (seconds < 60) return `${fixed(seconds, 1)} s`;
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
