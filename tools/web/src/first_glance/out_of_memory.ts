// The card of an out-of-memory error: the refused request in the memory of the device, the cause, and the remedies.
import {command, el} from '../drawing/element';
import {formatBytes, formatMoment, formatShare} from '../drawing/units';
import type {App} from '../report/app';
import type {Device} from '../report/device';
import type {Finding, OutOfMemory, OutOfMemoryWords, Remedy} from '../report/facts';
import {withLayersMerged} from '../tables/layers';

import {isFinding} from './findings';
import {type MemoryAtError, memoryAtError, memoryLegend, memoryPicture} from './memory_at_error';

const kMostGrown = 3;

interface KnownError {
  error: OutOfMemory;
  words: OutOfMemoryWords;
  device: Device|undefined;  // undefined: the report has no blocks of this device
}

function errorsOf(app: App): KnownError[] {
  return app.facts.summary.out_of_memory.map((error, i) => ({
                                               error,
                                               words: app.facts.out_of_memory_words[i]!,
                                               device: app.devices.find(
                                                   ({facts}) => facts.device === error.device &&
                                                       facts.process === error.process)
                                             }));
}

// Returns the index of the last error of the shown device. The last of all errors if this device had no error.
function firstShown(app: App, errors: KnownError[]): number {
  const own = errors.map(({device}) => device).lastIndexOf(app.device);
  return own >= 0 ? own : errors.length - 1;
}

function savedText(remedy: Remedy, missing: number): string {
  if (remedy.bytes === null) return '';
  const enough = missing <= 0 ? '' :
      remedy.bytes >= missing ? `, at least the missing ${formatBytes(missing)}` :
                                `, not enough alone: ${formatBytes(missing)} are missing`;
  return `up to ${formatBytes(remedy.bytes)}${enough}`;
}

function remedyList(remedies: Remedy[], missing: number): HTMLElement {
  if (remedies.length === 0) return el('p', {class: 'note'}, 'The recording shows no remedy.');
  const most = Math.max(1, ...remedies.map((remedy) => remedy.bytes ?? 0));
  const items = remedies.map((remedy) => {
    const saved = savedText(remedy, missing);
    const bar = el('b', {class: 'saved-bar'});
    bar.style.width = `${(100 * (remedy.bytes ?? 0)) / most}%`;
    const track = el('span', {class: 'saved-track'}, bar);
    return el(
        'li', {}, el('bdi', {}, remedy.text),
        saved === '' ? null : el('div', {class: 'saved'}, track, el('span', {}, saved)));
  });
  return el('ol', {class: 'remedies'}, ...items);
}

// Describes the growth since the same call of the step before, with merged layers. Empty if the recording has no
// earlier step.
function growthText({growth, allocated_bytes}: OutOfMemory): string {
  if (!growth || growth.allocated_bytes <= 0) return '';
  const rows = new Map<string, number>();
  for (const {name, bytes} of growth.by_module)
    rows.set(withLayersMerged(name), (rows.get(withLayersMerged(name)) ?? 0) + bytes);
  const largest = [...rows].filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a).slice(0, kMostGrown);
  const names = largest.map(([name, bytes]) => `${name} +${formatBytes(bytes)}`).join(', ');
  const since = growth.same_call ? `the same call of the ${growth.since} before` : `the ${growth.since} before`;
  const grown = `${formatBytes(growth.allocated_bytes)} (${formatShare(growth.allocated_bytes, allocated_bytes)})`;
  return `${grown} more than at ${since}${names === '' ? '' : `: ${names}`}.`;
}

function titleOf({error, words}: KnownError, {missing, total}: MemoryAtError): string {
  const asked = error.asked_bytes > 0 ? `a request of ${formatBytes(error.asked_bytes)} was refused` :
                                        'a request was refused';
  if (words.of_host) return `Out of memory of the host: ${asked}`;
  return `Out of memory on ${error.device}: ${asked}${
      missing > 0 && missing <= total ? `, ${formatBytes(missing)} are missing` : ''}`;
}

function contentOf(app: App, known: KnownError, chooser: HTMLElement|null, commandText: string): HTMLElement[] {
  const {error, words, device} = known;
  const memory = memoryAtError(app, error);
  const see = el('button', {type: 'button', class: 'primary'}, 'What was live at the error →');
  see.addEventListener('click', () => {
    if (device) app.go({view: 'timeline', device: device.number, instant: error.time_ns});
  });
  const pictured = !words.of_host && memory.pieces.length > 0;
  const growth = growthText(error);
  return [
    el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'), titleOf(known, memory)),
    chooser,
    el('p', {}, el('bdi', {}, `${words.place}, at ${formatMoment(error.time_ns)}`),
       words.line === '' ? null : el('bdi', {}, ` · ${words.line}`)),
    pictured ? memoryPicture(memory) : null,
    pictured ? memoryLegend(memory) : null,
    el('p', {class: 'cause'}, el('strong', {}, 'Why: '), el('bdi', {}, words.cause)),
    growth === '' ? null : el('p', {class: 'cause'}, el('strong', {}, 'Why now: '), el('bdi', {}, growth)),
    el('h3', {}, 'What helps, the most useful first'),
    remedyList(words.remedies, words.of_host ? 0 : memory.missing),
    el('p', {}, command(commandText)),
    device ? see : null,
  ].filter((part): part is HTMLElement => part !== null);
}

function chooserOf(errors: KnownError[], shown: number, finding: Finding, choose: (i: number) => void): HTMLElement {
  const options = errors.map(
      ({error, device}, i) => el(
          'option', {value: String(i), selected: i === shown},
          `${device?.name ?? error.device} at ${formatMoment(error.time_ns)}, ${formatBytes(error.asked_bytes)}`));
  const select = el('select', {'aria-label': 'error'}, ...options);
  select.addEventListener('change', () => choose(Number(select.value)));
  return el('label', {class: 'chooser'}, `${finding.headline}, shown: `, select);
}

// Returns the card. null if no request was refused.
export function outOfMemory(app: App): HTMLElement|null {
  const finding = app.facts.findings.find((one) => one.check === 'oom' && isFinding(one));
  if (!finding) return null;
  const card = el('div', {class: 'card wide-card ran-out'});
  const errors = errorsOf(app);
  if (errors.length === 0) {
    card.append(
        el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'), finding.headline),
        el('p', {}, finding.text.trim().replace(/\s+/g, ' ')), el('p', {}, command(finding.command)));
    return card;
  }
  const show = (shown: number): void => {
    const chooser = errors.length > 1 ? chooserOf(errors, shown, finding, show) : null;
    card.replaceChildren(...contentOf(app, errors[shown]!, chooser, finding.command));
  };
  show(firstShown(app, errors));
  return card;
}
