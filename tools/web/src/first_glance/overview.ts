// The overview: the peak, what it is made of, what was reserved and wasted, what the checks found.
import {paintEvicted} from '../charts/evicted';
import {paintStack, xIn} from '../charts/stack_picture';
import {surface, type Surface} from '../drawing/canvas';
import {variable} from '../drawing/colours';
import {chosenByClick, el, replaceContent} from '../drawing/element';
import {formatBytes, formatCount, formatMoment, formatShare, plural} from '../drawing/units';
import type {App, ViewName} from '../report/app';
import {pointsOf} from '../report/curves';
import type {Facts} from '../report/facts';
import {labelsOf} from '../report/labels';
import {kindsOf, nounOf} from '../report/rank_curves';
import type {View} from '../report/view';
import {madeOf} from '../tables/parts';
import {deviceCard} from './device_card';
import {findings} from './findings';
import {outOfMemory} from './out_of_memory';
import {peakSentence} from './peak_sentence';
import {rankStrip} from './rank_strip';

function hero(app: App, open: (view: ViewName) => void): HTMLElement {
  const {summary, simulated} = app.device;
  const peak = summary.peak_allocated_bytes;
  const where = [
    summary.peak_time_ns !== null && peak !== 0 ? `at ${formatMoment(summary.peak_time_ns)}` : '',
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
  const of = snapshot === '' ? null :
                               el('p', {class: 'kind measured'}, el('strong', {}, 'SNAPSHOT'),
                                  el('bdi', {}, `of one instant, requested by: ${snapshot}`));
  const label = snapshot !== '' ? 'allocated then' : 'peak allocated';
  const see = el('button', {type: 'button', class: 'primary'}, 'What was live then →');
  see.addEventListener('click', () => open('timeline'));
  const evicted = summary.peak_in_folded_parts ?
      el('p', {class: 'note'},
         'The peak is in parts of the recording that --max-size evicted: the blocks of the peak are not known.') :
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
      evicted,
      peak === 0 ? el('p', {class: 'note'}, 'Nothing was allocated.') : see,
  );
}

// The first card: what the peak is made of, and where.
function sentence(app: App): HTMLElement|null {
  if (!app.device.summary.peak_allocated_bytes) return null;
  const text = el('p', {class: 'sentence'}, '…');
  app.draws(peakSentence(app).then((said) => text.replaceChildren(el('bdi', {}, said))));
  return el('div', {class: 'card wide-card'}, text);
}

const kMostDevices = 200;

// Describes missing parts of the recording, or the end of the program.
function lost({lines, is_lossy}: Facts['losses']): HTMLElement|null {
  if (lines === '') return null;
  return el(
      'div', {class: 'card wide-card lost'},
      el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'),
         is_lossy ? 'Not everything was recorded' : 'All events were recorded, but'),
      el('pre', {}, lines.trim()));
}

// Describes the bytes of this device that the report omits, and the figures that include them.
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
  const frame = {from, to, left: 0, width, height};
  context.clearRect(0, 0, width, height);
  paintStack(context, points, labels, frame);
  paintEvicted(app, context, (ns) => xIn(frame, ns), 0, height, [0, width], 1, 'evicted');
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
         `${app.isSnapshot ? '' : calls}${plural(app.device.process.all_steps, 'step')}, ${
             plural(app.device.summary.allocations, 'allocation')} of ${
             formatBytes(app.device.summary.allocated_bytes)} in all`));
}

// Several devices or ranks side by side; one is chosen by a click.
function devices(app: App): HTMLElement|null {
  if (app.devices.length < 2) return null;
  const most = app.devices.reduce((all, device) => Math.max(all, device.summary.peak_allocated_bytes ?? 0), 1);
  const rows = app.devices.slice(0, kMostDevices).map((device, i) => {
    const peak = device.summary.peak_allocated_bytes;
    const bar = el('b', {class: 'bar'});
    bar.style.width = `${(100 * (peak ?? 0)) / most}%`;
    const row =
        el('tr', {'aria-selected': String(i === app.place.device)},
           el('td', {class: 'wide'}, el('bdi', {}, `${device.name}${device.simulated ? ' (SIMULATED)' : ''}`)),
           el('td', {class: 'number'}, bar, el('bdi', {}, peak === null ? 'not known' : formatBytes(peak))),
           el('td', {class: 'number'},
              device.summary.peak_reserved_bytes ? formatBytes(device.summary.peak_reserved_bytes) : '–'));
    chosenByClick(row, () => app.go({device: i}));
    return row;
  });
  return el(
      'div', {class: 'card wide-card'}, el('h2', {}, 'Devices'),
      el('table', {class: 'plain'},
         el('thead', {},
            el('tr', {}, el('th', {}, 'device'), el('th', {class: 'number'}, 'peak allocated'),
               el('th', {class: 'number'}, 'peak reserved'))),
         el('tbody', {}, ...rows)),
      app.devices.length > kMostDevices ?
          el('p', {class: 'note'},
             `The first ${kMostDevices} of ${formatCount(app.devices.length)}; the list at the top has all.`) :
          null,
      kindsOf(app).size > 0 ? sideBySide(app) : null);
}

function sideBySide(app: App): HTMLElement {
  const ranks = [...kindsOf(app).values()].every((devices) => nounOf(devices) === 'rank');
  const button =
      el('button', {type: 'button', class: 'link'}, `${ranks ? 'Ranks' : 'Devices'} side by side over time →`);
  button.addEventListener('click', () => app.go({view: 'ranks'}));
  return el('p', {}, button);
}

function mainCard(app: App, open: (view: ViewName) => void): HTMLElement {
  const card = app.mainGrouping === 'line' ?
      madeOf(app, 'The peak by line', 'line', 'lines', 10, () => open('lines')) :
      madeOf(app, 'The peak by category', 'category', 'categories', 10, () => open('timeline'));
  card.classList.add('main');
  return card;
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
      replaceContent(
          element,
          ...[rankStrip(app),
              sentence(app),
              outOfMemory(app),
              lost(facts.losses),
              partCard(app),
              hero(app, open),
              mainCard(app, open),
              el('div', {class: 'column'}, deviceCard(app), findings(app)),
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
                            formatCount(app.device.facts.kept_blocks)} largest and longest-lived ones singly. ` +
                            'The peak, curves and tables are of all.'),
                 facts.summary.missing ? el('p', {class: 'note'}, facts.summary.missing) : null),
      ].filter((part): part is HTMLElement => part !== null),
      );
    },
  };
}
