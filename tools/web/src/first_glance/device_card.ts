// The card of a device's memory at the peak: in blocks, in none, and what was reserved at another time.
import {kOther} from '../drawing/colours';
import {el} from '../drawing/element';
import {formatBytes, formatShare, plural} from '../drawing/units';
import type {App} from '../report/app';
import type {DeviceSummary} from '../report/facts';
import {type Part, partList, stackedBar} from '../tables/parts';

function whenReserved({peak_reserved_time_ns: most, peak_time_ns: peak, peak_in_folded_parts}: DeviceSummary): string {
  if (most === undefined || most === null || peak === null || most === peak || peak_in_folded_parts)
    return 'reserved at another time';
  return most < peak ? 'reserved earlier' : 'reserved later';
}

export function deviceCard(app: App): HTMLElement|null {
  const {summary} = app.device;
  const reserved = summary.peak_reserved_bytes;
  const allocated = summary.peak_allocated_bytes;
  if (reserved === null || reserved === undefined || allocated === null) return null;
  // Where nothing was ever allocated there is no instant of the peak.
  const then = allocated === 0 ? reserved : (summary.reserved_bytes_at_peak ?? reserved);
  const outside = summary.outside_torch_bytes ?? 0;
  const total = summary.total_bytes ?? 0;
  const taken = Math.max(allocated, summary.peak_of_all_bytes ?? 0);
  const unused = Math.max(0, then - taken);
  const parts: Part[] = [
    {name: 'allocated', bytes: allocated, colour: 'var(--line-allocated)'},
    {name: 'in other blocks', bytes: taken - allocated, colour: kOther()},
    {name: 'in no block', bytes: unused, colour: 'var(--waste)'},
    {name: whenReserved(summary), bytes: reserved - then, colour: 'var(--waste-faint)'},
    {name: 'non-PyTorch memory', bytes: outside, colour: 'var(--outside)'},
    {name: 'free', bytes: total - reserved - outside, colour: 'var(--free)'},
  ].filter((part) => part.bytes > 0 || part.name === 'allocated' || part.name === 'in no block');
  const whole = parts.reduce((sum, part) => sum + part.bytes, 0);
  const {active_bytes_at_peak: active, requested_bytes_at_peak: requested} = summary;
  const rounding = active && requested && !app.choosesBlocks ? active - requested : 0;
  const facts = [
    `reserved at most ${formatBytes(reserved)}`,
    allocated === 0 ?
        'nothing was allocated' :
        `${formatBytes(then)} at the peak, ${formatBytes(unused)} (${formatShare(unused, then)}) of these in no block`,
    rounding > 0 ? `${formatBytes(rounding)} of the active bytes then are rounding: ${
                       ''}torch's allocator makes blocks larger than the requested bytes` :
                   '',
    summary.num_alloc_retries ? plural(summary.num_alloc_retries, 'allocation retry', 'allocation retries') : '',
    summary.num_ooms ? plural(summary.num_ooms, 'out-of-memory error') : '',
  ].filter((fact) => fact !== '');
  return el(
      'div', {class: 'card device-card'}, el('h2', {}, 'Reserved and waste'),
      stackedBar(parts, whole, 'memory of the device'), partList(parts, whole, 6, () => undefined, 'parts').element,
      el('p', {class: 'note'}, facts.join(' · ')));
}
