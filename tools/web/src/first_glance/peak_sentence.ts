// The peak in one sentence: "Peak 5.01 GiB of 79.2 GiB on cuda:0, step 1: 59 % activation, most of it at train.py:93;
// 10 % optimizer state."
import {formatBytes, formatShare} from '../drawing/units';
import type {App} from '../report/app';
import {bytesBefore} from '../report/compared';
import {labelsOf} from '../report/labels';
import {liveAt} from '../report/live';
import {type Part, partsAtPeak} from '../tables/parts';

const kLeastShare = 0.1;  // of the peak, that a category needs to be named
const kMostNamed = 3;

// Where most of a category's bytes were allocated: ", most of it at train.py:93". Empty if the lines are not known.
async function placeOf(app: App, category: Part, ns: number): Promise<string> {
  if (!app.facts.has_lines) return '';
  const live = await liveAt(app.device, ns);
  const [categories, lines] = [await labelsOf(app, 'category'), await labelsOf(app, 'line')];
  const {labels, bytes} = await app.device.blocks();
  const byLine = new Map<number, number>();
  let sum = 0;
  for (const block of live.blocks) {
    if (categories.names[labels['category']![block]!] !== category.name) continue;
    const line = labels['line']![block]!;
    byLine.set(line, (byLine.get(line) ?? 0) + bytes[block]!);
    sum += bytes[block]!;
  }
  const [first] = [...byLine].sort(([, a], [, b]) => b - a);
  if (!first || sum < category.bytes / 2) return '';
  const name = lines.names[first[0]] ?? '';
  if (name === '' || name.startsWith('(')) return '';
  if (byLine.size === 1) return `, all of it at ${name}`;
  return first[1] > sum / 2 ? `, most of it at ${name}` : `, ${formatShare(first[1], sum)} of that at ${name}`;
}

// "1.20 GiB more than the 3.81 GiB of", before the name of a capture.
function changeText(peak: number, before: number): string {
  if (peak === before) return 'As much as in';
  const change = formatBytes(Math.abs(peak - before));
  return `${change} ${peak > before ? 'more' : 'less'} than the ${formatBytes(before)} of`;
}

export async function peakSentence(app: App): Promise<string> {
  const {summary, facts} = app.device;
  const peak = summary.peak_allocated_bytes;
  if (!peak) return '';
  const total = summary.total_bytes ? ` of ${formatBytes(summary.total_bytes)}` : '';
  const step = summary.peak_step !== null ? `, step ${summary.peak_step}` : '';
  const start = `Peak ${formatBytes(peak)}${total} on ${app.device.name}${step}`;
  const parts = partsAtPeak(app, app.mainGrouping).slice(0, kMostNamed);
  const named = parts.filter((part, i) => i === 0 || part.bytes >= kLeastShare * peak);
  const instant = facts.instants.find((one) => one.kind === 'peak');
  const texts = await Promise.all(named.map(async (part, i) => {
    const place =
        i === 0 && instant && app.mainGrouping === 'category' ? await placeOf(app, part, instant.time_ns) : '';
    return `${formatShare(part.bytes, peak)} ${part.name}${place}`;
  }));
  const before = await bytesBefore(app);
  const change = before ? ` ${changeText(peak, before.peak)} ${app.facts.baseline!.path}.` : '';
  return (texts.length > 0 ? `${start}: ${texts.join('; ')}.` : `${start}.`) + change;
}
