// Colours. Categories have the colours of tools/view/time/over_time_picture.cc; people who do not tell red, green or
// blue apart tell them apart, too (tests/rules/palette.py).

// In the order in which they are stacked: what lives longest is at the bottom (StackingOrder() in C++).
const kCategories: Record<string, [number, number, number]> = {
  PARAMETER: [17, 97, 140],
  BUFFER: [10, 197, 221],
  OPTIMIZER_STATE: [148, 106, 197],
  GRADIENT: [206, 42, 41],
  INPUT: [35, 168, 100],
  UNKNOWN: [127, 127, 127],
  AUTOGRAD_DETAIL: [232, 149, 169],
  ACTIVATION: [220, 114, 10],
  TEMPORARY: [198, 200, 43],
};

// For everything else that is told apart: neighbours differ in lightness, too, so that they can be told apart without
// their hue.
const kRow: [number, number, number][] = [
  [53, 109, 168],  [240, 160, 75],  [86, 155, 101],  [197, 90, 86],   [150, 125, 190], [158, 117, 90],
  [226, 153, 196], [110, 110, 118], [199, 190, 92],  [66, 170, 190],  [31, 78, 121],   [250, 196, 140],
  [45, 106, 60],   [240, 150, 145], [98, 70, 140],   [205, 170, 150], [160, 75, 125],  [165, 165, 175],
  [130, 122, 30],  [150, 210, 222], [120, 165, 215], [185, 100, 30],  [150, 205, 150], [130, 45, 45],
];

const css = (rgb: number[]): string => `rgb(${rgb.map(Math.round).join(' ')})`;

export const isDark = (): boolean => document.documentElement.dataset['theme'] === 'dark';

export function categoryColour(category: string, detail: string): string {
  const rgb = kCategories[category] ?? kCategories['UNKNOWN']!;
  const toward = detail === '' ? 0 : 0.5;  // what is told apart in one category is a shade of it
  return css(rgb.map((part) => part + (255 - part) * (isDark() ? Math.min(toward, 0.4) : toward)));
}

export const stackingOrder = (category: string): number => Object.keys(kCategories).indexOf(category);

export const kOther = (): string => (isDark() ? 'rgb(92 98 108)' : 'rgb(198 202 208)');

export function rowColour(rank: number): string { return rank < kRow.length ? css(kRow[rank]!) : kOther(); }

// The colour of a row that had `before` bytes: red if it has more now, blue if it has fewer, the stronger the larger
// its new or lost share.
export function changeColour(before: number, now: number): string {
  const same = isDark() ? [84, 89, 98] : [214, 217, 222];
  const [more, less] = isDark() ? [[222, 92, 82], [92, 142, 222]] : [[205, 62, 52], [52, 108, 196]];
  const share = Math.abs(now - before) / Math.max(now, before, 1);
  const toward = now > before ? more : less;
  const strength = share === 0 ? 0 : 0.2 + 0.8 * share;  // a small change is seen, too
  return css(same.map((part, i) => part + (toward![i]! - part) * strength));
}

// Ink on a colour of the above: whichever is read better.
export function inkOn(colour: string): string {
  const [red, green, blue] = colour.match(/\d+/g)!.map(Number) as [number, number, number];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#16181d' : '#ffffff';
}

export const variable = (name: string): string =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
