// The exact instants of a device, to go to by a click.
import {el} from '../drawing/element';
import {formatCount, formatMoment, plural} from '../drawing/units';
import type {App} from '../report/app';
import type {Instant} from '../report/facts';

const kMostChips = 24;

export const instantName = (instant: Instant): string => instant.kind === 'mark' ? `mark ${instant.name}` :
    instant.kind === 'oom'     ? 'out of memory' :
    instant.kind === 'regular' ? formatMoment(instant.time_ns) :
                                 instant.kind;

// "peak, 1.2345 s"
export const momentOf = (instant: Instant): string => instant.kind === 'regular' ?
    formatMoment(instant.time_ns) :
    `${instantName(instant)}, ${formatMoment(instant.time_ns)}`;

// Describes the marks and errors for which the report has no instant.
function leftOut(app: App): string {
  const {instants, all_marks, all_out_of_memory} = app.device.facts;
  const cut = (kind: Instant['kind'], all: number, one: string): string[] => {
    const kept = instants.filter((instant) => instant.kind === kind).length;
    return kept < all ? [`the first ${formatCount(kept)} of ${plural(all, one)}`] : [];
  };
  return [...cut('oom', all_out_of_memory, 'out-of-memory error'), ...cut('mark', all_marks, 'mark')].join(', ');
}

// Makes them anew for what is chosen; whether all are shown it remembers.
export function instantChips(app: App, kinds: Instant['kind'][]): () => HTMLElement {
  let shownFor: number|null = null;  // the device of which all are shown
  const make = (): HTMLElement => {
    const box =
        el('div', {class: 'chips', role: 'group', 'aria-label': 'exact instants'},
           el('span', {class: 'label'}, 'exact at'));
    const all = app.instants()
                    .filter((instant) => kinds.includes(instant.kind))
                    .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || a.time_ns - b.time_ns);
    const most = shownFor === app.place.device ? all.length : kMostChips;
    all.forEach((instant, i) => {
      if (i >= most && instant.time_ns !== app.place.instant) return;
      const chip =
          el('button', {
            type: 'button',
            class: instant.kind,
            title: momentOf(instant),
            'aria-pressed': String(instant.time_ns === app.place.instant)
          },
             el('bdi', {}, instantName(instant)));
      chip.addEventListener('click', () => app.go({instant: instant.time_ns}));
      box.append(chip);
    });
    if (all.length > most) {
      const more = el('button', {type: 'button', class: 'all-instants'}, `all ${formatCount(all.length)}`);
      more.addEventListener('click', () => {
        shownFor = app.place.device;
        box.replaceWith(make());
      });
      box.append(more);
    }
    const missing = leftOut(app);
    if (missing !== '') box.append(el('span', {class: 'note left-out'}, missing));
    return box;
  };
  return make;
}
