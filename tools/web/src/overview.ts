// The overview: the peak, what it is made of, what was reserved and wasted, what the checks found.
import type {App, ViewName} from './app';
import {surface, type Surface} from './canvas';
import {categoryColour, kOther, rowColour, variable} from './colours';
import {pointsOf} from './curves';
import {command, el, hideTip, showTip} from './element';
import type {Columns, Facts, Row} from './facts';
import {labelsOf} from './labels';
import {kindsOf, nounOf} from './rank_curves';
import type {View} from './timeline';
import {formatBytes, formatCount, formatMoment, formatShare, plural} from './units';

// Of a row what the chosen device has. With one device that is the row.
export function columnsOf(app: App, row: Row): Columns|null {
  if (app.facts.summary.devices.length < 2) return row;
  const {device, rank} = app.device.facts;
  return row.devices?.find((one) => one.device === device && one.rank === rank) ?? null;
}

interface Part {
  name: string;
  bytes: number;
  colour: string;
}

function partsAtPeak(app: App, word: string): Part[] {
  const rows = (app.tables[word] ?? [])
                   .map((row) => ({row, bytes: columnsOf(app, row)?.bytes_at_peak ?? 0}))
                   .filter(({bytes}) => bytes > 0)
                   .sort((a, b) => b.bytes - a.bytes);
  return rows.map(
      ({row, bytes}, i) => ({
        name: row.name,
        bytes,
        colour: word === 'category' ? (row.category ? categoryColour(row.category, row.detail ?? '') : kOther()) :
                                      rowColour(i),
      }));
}

function stackedBar(parts: Part[], total: number, label: string): HTMLElement {
  const bar = el('div', {
    class: 'stacked',
    role: 'img',
    'aria-label': `${label}: ${parts.map((part) => `${part.name} ${formatBytes(part.bytes)}`).join(', ')}`
  });
  for (const part of parts) {
    const piece = el('div', {});
    piece.style.flexGrow = String(part.bytes);
    piece.style.background = part.colour;
    piece.addEventListener(
        'mousemove',
        (event) => showTip(event, [part.name, `${formatBytes(part.bytes)}, ${formatShare(part.bytes, total)}`]));
    piece.addEventListener('mouseleave', hideTip);
    bar.append(piece);
  }
  return bar;
}

function list(parts: Part[], total: number, most: number, more: () => void, noun: string): HTMLElement {
  const shown = parts.slice(0, most);
  const rest = parts.slice(most);
  const rows = shown.map((part) => {
    const swatch = el('i', {class: 'swatch'});
    swatch.style.background = part.colour;
    const bar = el('b', {class: 'bar'});
    bar.style.width = `${(100 * part.bytes) / Math.max(1, ...parts.map((one) => one.bytes))}%`;
    return el(
        'tr', {}, el('td', {class: 'wide'}, swatch, el('bdi', {title: part.name}, part.name)),
        el('td', {class: 'number', title: `${formatCount(part.bytes)} bytes`}, bar,
           el('bdi', {}, formatBytes(part.bytes))),
        el('td', {class: 'number'}, formatShare(part.bytes, total)));
  });
  if (rest.length > 0) {
    const bytes = rest.reduce((sum, part) => sum + part.bytes, 0);
    const button =
        el('button', {type: 'button', class: 'link'}, el('bdi', {}, `${formatCount(rest.length)} more ${noun}`));
    button.addEventListener('click', more);
    rows.push(
        el('tr', {}, el('td', {class: 'wide'}, button), el('td', {class: 'number'}, formatBytes(bytes)),
           el('td', {class: 'number'}, formatShare(bytes, total))));
  }
  return el('table', {class: 'plain bars'}, el('tbody', {}, ...rows));
}

function hero(app: App, open: (view: ViewName) => void): HTMLElement {
  const {summary, simulated} = app.device;
  const peak = summary.peak_allocated_bytes;
  const where = [
    summary.peak_time_ns !== null ? `at ${formatMoment(summary.peak_time_ns)}` : '',
    summary.peak_step !== null ? `in step ${summary.peak_step}` : '',
    summary.peak_operator !== '' ? `in ${summary.peak_operator}` : '',
    summary.peak_range !== '' ? `(${summary.peak_range})` : '',
  ].filter((part) => part !== '');
  const kind = simulated !== '' ?
      el('p', {class: 'kind simulated'}, el('strong', {}, 'SIMULATED'),
         el('bdi', {}, `on a simulated ${simulated}: no figure of this device was measured on a GPU`)) :
      app.device.imported !== '' ?
      el('p', {class: 'kind measured'}, el('strong', {}, 'IMPORTED'), el('bdi', {}, `from ${app.device.imported}`)) :
      el('p', {class: 'kind measured'}, el('strong', {}, 'MEASURED'),
         el('bdi', {},
            app.device.facts.device.startsWith('cuda') ? `on ${summary.product || 'a GPU'}` : 'as the program ran'));
  const {snapshot} = app.device;
  const of = snapshot === '' ?
      null :
      el('p', {class: 'kind measured'}, el('strong', {}, 'SNAPSHOT'),
         el('bdi', {}, `of one instant, asked for by: ${snapshot}`));
  const label = snapshot !== '' ? 'allocated then' : 'peak allocated';
  const see = el('button', {type: 'button', class: 'primary'}, 'What was live then →');
  see.addEventListener('click', () => open('timeline'));
  const folded = summary.peak_in_folded_parts ?
      el('p', {class: 'note'},
         'The peak lies in parts of the recording that are gone (--max-size): what was live at it is not known.') :
      null;
  return el(
      'div',
      {class: 'hero'},
      kind,
      of,
      el('p', {class: 'label'}, app.choosesBlocks ? `${label} of these blocks` : label),
      el('p', {class: 'peak', title: peak === null ? '' : `${formatCount(peak)} bytes`},
         peak === null ? 'not known' : formatBytes(peak)),
      el('p', {}, el('bdi', {}, where.join(' '))),
      folded,
      see,
  );
}

// Bytes that the device gave, by who has them. Only what was recorded.
function deviceBar(app: App): HTMLElement|null {
  const {summary} = app.device;
  const reserved = summary.peak_reserved_bytes;
  const allocated = summary.peak_allocated_bytes;
  if (reserved === null || reserved === undefined || allocated === null) return null;
  const then = summary.reserved_bytes_at_peak ?? reserved;
  const outside = summary.outside_torch_bytes ?? 0;
  const total = summary.total_bytes ?? 0;
  const taken = Math.max(allocated, summary.peak_of_all_bytes ?? 0);
  const parts: Part[] = [
    {name: 'allocated', bytes: allocated, colour: variable('--line-allocated')},
    ...(taken > allocated ? [{name: 'in other blocks', bytes: taken - allocated, colour: kOther()}] : []),
    {name: 'in no block', bytes: Math.max(0, then - taken), colour: variable('--waste')},
    ...(reserved > then ? [{name: 'reserved later', bytes: reserved - then, colour: variable('--waste-faint')}] : []),
    ...(outside > 0 ? [{name: 'non-PyTorch memory', bytes: outside, colour: variable('--outside')}] : []),
    ...(total > reserved + outside ? [{name: 'free', bytes: total - reserved - outside, colour: variable('--free')}] :
                                     []),
  ];
  const whole = parts.reduce((sum, part) => sum + part.bytes, 0);
  const rounding = summary.requested_bytes_at_peak && !app.choosesBlocks ?
      Math.max(0, (summary.peak_active_bytes ?? 0) - summary.requested_bytes_at_peak) :
      0;
  const facts = [
    `reserved at most ${formatBytes(reserved)}`,
    `${formatBytes(Math.max(0, then - taken))} of it (${
        formatShare(Math.max(0, then - taken), then)}) in no block at the peak`,
    rounding > 0 ? `${formatBytes(rounding)} are rounding` : '',
    summary.num_alloc_retries ? plural(summary.num_alloc_retries, 'allocation retry', 'allocation retries') : '',
    summary.num_ooms ? plural(summary.num_ooms, 'out-of-memory error') : '',
  ].filter((fact) => fact !== '');
  return el(
      'div', {class: 'card'}, el('h2', {}, 'Reserved and waste'), stackedBar(parts, whole, 'memory of the device'),
      list(parts, whole, 6, () => undefined, 'parts'), el('p', {class: 'note'}, facts.join(' · ')));
}

function findings(app: App): HTMLElement {
  const cards = app.facts.findings.map(
      (finding) => el(
          'div',
          {class: `finding ${finding.found ? 'found' : 'fine'}`},
          el('h3', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, finding.found ? '!' : '✓'),
             `${finding.check}: `, el('bdi', {}, finding.headline)),
          finding.text !== '' && finding.check !== 'oom' ?
              el('details', {}, el('summary', {}, 'more'), el('pre', {}, finding.text)) :
              null,
          finding.found ? command(finding.command) : null,
          ),
  );
  return el('div', {class: 'card'}, el('h2', {}, 'Findings'), ...cards);
}

// What the program ended with, if it did: before everything else.
function outOfMemory(app: App): HTMLElement|null {
  const finding = app.facts.findings.find((one) => one.check === 'oom' && one.found);
  if (!finding) return null;
  const instant = app.instants().find((one) => one.kind === 'oom');
  const see = el('button', {type: 'button', class: 'primary'}, 'What was live at the error →');
  if (instant) see.addEventListener('click', () => app.go({view: 'timeline', instant: instant.time_ns}));
  return el(
      'div', {class: 'card wide-card ran-out'},
      el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'), finding.headline),
      el('pre', {}, finding.text.trim()), el('p', {}, command(finding.command)), instant ? see : null);
}

// What is missing in everything below, or how the program ended.
function lost({lines, is_lossy}: Facts['losses']): HTMLElement|null {
  if (lines === '') return null;
  return el(
      'div', {class: 'card wide-card lost'},
      el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'),
         is_lossy ? 'Not everything was recorded' : 'All events were recorded, but'),
      el('pre', {}, lines.trim()));
}

// What the report leaves out, of this device in bytes, and what is of more nevertheless.
function partCard(app: App): HTMLElement|null {
  const {part} = app.facts;
  if (!part) return null;
  const {peak_allocated_bytes, peak_of_all_bytes} = app.device.summary;
  const share = part.blocks !== '' && peak_of_all_bytes ?
      ` They are ${formatShare(peak_allocated_bytes ?? 0, peak_of_all_bytes)} of the ${
          formatBytes(peak_of_all_bytes)} that all blocks of ${app.device.name} had at their peak.` :
      '';
  return el(
      'div', {class: 'card wide-card part-of'}, el('h2', {}, el('bdi', {}, `A part: ${part.text}`)),
      ...[share, ...part.notes].filter((note) => note !== '').map((note) => el('p', {class: 'note'}, note)));
}

// Bytes over time by the main grouping, small.
async function drawSparkline(app: App, {context, width, height}: Surface): Promise<void> {
  const {from, to} = app.busyTime();
  const points = await pointsOf(app.device, app.mainGrouping, from, to, Math.max(50, Math.floor(width)));
  const labels = await labelsOf(app, app.mainGrouping);
  const most = Math.max(1, ...points.most);
  const x = (ns: number): number => ((ns - from) / (to - from)) * width;
  const y = (sum: number): number => Math.round(height - (sum / most) * (height - 6));
  const below = new Array<number>(points.ns.length).fill(0);
  context.clearRect(0, 0, width, height);
  points.parts.forEach((part, place) => {
    context.fillStyle = labels.colour(points.labels[place]!);
    for (let i = 0; i + 1 < points.ns.length; ++i) {
      const [left, right] = [Math.floor(x(points.ns[i]!)), Math.ceil(x(points.ns[i + 1]!))];
      const sum = below[i]! + part[i]!;
      context.fillRect(left, y(sum), right - left, y(below[i]!) - y(sum));
      below[i] = sum;
    }
  });
}

function sparkline(app: App, open: (view: ViewName) => void): HTMLElement {
  const drawn = surface(
      'allocated bytes over time; opens the timeline', () => 150, (made) => app.draws(drawSparkline(app, made)));
  drawn.canvas.addEventListener('click', () => open('timeline'));
  drawn.canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') open('timeline');
  });
  const box = el('div', {class: 'spark'}, drawn.canvas);
  drawn.draw();
  const {operator_calls, processes} = app.facts.summary;
  const calls = `${plural(operator_calls, 'operator call')}${processes.length > 1 ? ' in all ranks' : ''}, `;
  return el(
      'div', {class: 'card'}, el('h2', {}, 'Over time'), box,
      el('p', {class: 'note'},
         `${app.isSnapshot ? '' : calls}${plural(app.device.process.steps_ns.length, 'step')}, ${
             plural(app.device.summary.allocations, 'allocation')} of ${
             formatBytes(app.device.summary.allocated_bytes)} in all`));
}

// Several devices or ranks side by side; one is chosen by a click.
function devices(app: App): HTMLElement|null {
  if (app.devices.length < 2) return null;
  const most = Math.max(1, ...app.devices.map((device) => device.summary.peak_allocated_bytes ?? 0));
  const rows = app.devices.slice(0, 200).map((device, i) => {
    const bar = el('b', {class: 'bar'});
    bar.style.width = `${(100 * (device.summary.peak_allocated_bytes ?? 0)) / most}%`;
    const row =
        el('tr', {class: 'chosen-by-click', 'aria-selected': String(i === app.place.device)},
           el('td', {class: 'wide'}, el('bdi', {}, `${device.name}${device.simulated ? ' (SIMULATED)' : ''}`)),
           el('td', {class: 'number'}, bar, el('bdi', {}, formatBytes(device.summary.peak_allocated_bytes ?? 0))),
           el('td', {class: 'number'},
              device.summary.peak_reserved_bytes ? formatBytes(device.summary.peak_reserved_bytes) : '–'));
    row.addEventListener('click', () => app.go({device: i}));
    return row;
  });
  return el(
      'div', {class: 'card wide-card'}, el('h2', {}, 'Devices'),
      el('table', {class: 'plain'},
         el('thead', {},
            el('tr', {}, el('th', {}, 'device'), el('th', {class: 'number'}, 'peak allocated'),
               el('th', {class: 'number'}, 'peak reserved'))),
         el('tbody', {}, ...rows)),
      kindsOf(app).size > 0 ? sideBySide(app) : null);
}

function sideBySide(app: App): HTMLElement {
  const ranks = [...kindsOf(app).values()].every((devices) => nounOf(devices) === 'rank');
  const button =
      el('button', {type: 'button', class: 'link'}, `${ranks ? 'Ranks' : 'Devices'} side by side over time →`);
  button.addEventListener('click', () => app.go({view: 'ranks'}));
  return el('p', {}, button);
}

function madeOf(app: App, title: string, word: string, many: string, most: number, more: () => void): HTMLElement {
  const parts = partsAtPeak(app, word);
  const total = app.device.summary.peak_allocated_bytes ?? 0;
  const empty = parts.length === 0 ? el('p', {class: 'note'}, 'Nothing is known of it.') : null;
  const bar = word === 'category' && parts.length > 0 ? stackedBar(parts, total, title) : null;
  return el('div', {class: `card ${word}`}, el('h2', {}, title), bar, empty, list(parts, total, most, more, many));
}

export function overviewView(app: App): View {
  const element = el('section', {class: 'overview'});
  const open = (view: ViewName): void =>
      app.go({view, instant: app.instants().find((one) => one.kind === 'peak')?.time_ns ?? app.place.instant});
  let shownFor = '';
  return {
    element,
    update() {
      const key = `${app.place.device} ${variable('--surface')}`;
      if (key === shownFor) return;
      shownFor = key;
      const {facts} = app;
      element.replaceChildren(
          ...[outOfMemory(app),
              lost(facts.losses),
              partCard(app),
              hero(app, open),
              app.mainGrouping === 'line' ?
                  madeOf(app, 'The peak by line', 'line', 'lines', 10, () => open('lines')) :
                  madeOf(app, 'The peak by category', 'category', 'categories', 10, () => open('timeline')),
              el('div', {class: 'column'}, deviceBar(app), findings(app)),
              el('div', {class: 'column double'},
                 el('div', {class: 'pair'},
                    madeOf(app, 'The peak by module', 'module', 'modules', 8, () => open('modules')),
                    app.facts.has_lines && app.mainGrouping !== 'line' ?
                        madeOf(app, 'The peak by line', 'line', 'lines', 8, () => open('lines')) :
                        madeOf(app, 'The peak by operator', 'operator', 'operators', 8, () => open('operators'))),
                 sparkline(app, open)),
              devices(app),
              el('div', {class: 'card wide-card fine-print'}, el('h2', {}, 'What ran'),
                 el('pre', {}, facts.what_ran.trim()),
                 facts.losses.notes !== '' ? el('pre', {}, facts.losses.notes.trim()) : null,
                 app.device.facts.complete ?
                     null :
                     el('p', {class: 'note'},
                        `A long recording: of ${formatCount(app.device.facts.all_blocks)} blocks of ${
                            app.device.name} this report has the ${
                            formatCount(
                                app.device.facts
                                    .kept_blocks)} largest and longest-lived ones singly. The peak, curves and tables are of all.`),
                 facts.summary.missing ? el('p', {class: 'note'}, facts.summary.missing) : null),
      ].filter((part): part is HTMLElement => part !== null),
      );
    },
  };
}
