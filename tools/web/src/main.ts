// The page of `memoir report`: reads what the file contains and shows one view after another.
import 'uplot/dist/uPlot.min.css';
import './style.css';

import {blocksView} from './charts/blocks';
import {flameView} from './charts/flame';
import {ranksView} from './charts/ranks';
import {segmentsView} from './charts/segments';
import {timelineView} from './charts/timeline';
import {paintAll} from './drawing/canvas';
import {el, hideTip} from './drawing/element';
import {markCutEdges} from './drawing/scroll_edges';
import {overviewView} from './first_glance/overview';
import {deviceThatMatters} from './first_glance/rank_strip';
import {App, type ViewName} from './report/app';
import type {Facts, Tables} from './report/facts';
import {missingFeature, sectionJson} from './report/payload';
import {kindsOf, nounOf} from './report/rank_curves';
import type {View} from './report/view';
import {rowsView} from './tables/rows';

interface ViewOf {
  name: ViewName;
  text: string;
  make: (app: App) => View;
}

const kViews: ViewOf[] = [
  {name: 'overview', text: 'Overview', make: overviewView},
  {name: 'timeline', text: 'Timeline', make: timelineView},
  {name: 'blocks', text: 'Blocks', make: blocksView},
  {name: 'flame', text: 'Flame graph', make: flameView},
  {name: 'segments', text: 'Segments', make: segmentsView},
  {name: 'modules', text: 'Modules', make: (app) => rowsView(app, 'module', 'modules', 'modules')},
  {name: 'operators', text: 'Operators', make: (app) => rowsView(app, 'operator', 'operators', 'operators')},
  {name: 'lines', text: 'Lines', make: (app) => rowsView(app, 'line', 'lines', 'lines')},
  {name: 'parameters', text: 'Parameters', make: (app) => rowsView(app, 'parameter', 'parameters', 'parameters')},
];

const kKeys: [string, string][] = [
  ['1 … 9', 'views, in their order'],
  ['r', 'ranks or devices side by side, where there are several'],
  ['/', 'search or filter'],
  ['+  −  0', 'zoom in, out, all of it'],
  ['← →  ↑ ↓', 'move'],
  ['n  p', 'timeline: next and previous exact instant'],
  ['[  ]', 'previous and next device'],
  ['Esc', 'flame graph: back out; leave a field'],
  ['t', 'dark or light'],
  ['?', 'this'],
];

const by = (id: string): HTMLElement => document.getElementById(id)!;

function setTheme(theme: string): void { document.documentElement.dataset['theme'] = theme; }

function fail(text: string): void { by('view').replaceChildren(el('p', {class: 'failed', role: 'alert'}, text)); }

class Shell {
  private readonly views = new Map<ViewName, View>();
  readonly offered: ViewOf[];

  constructor(private readonly app: App) {
    const kinds = [...kindsOf(app).values()];
    const text = kinds.every((devices) => nounOf(devices) === 'rank') ? 'Ranks' : 'Devices';
    this.offered = [...kViews, ...(kinds.length > 0 ? [{name: 'ranks' as const, text, make: ranksView}] : [])];
    by('what').replaceChildren(el('bdi', {title: app.facts.what_ran}, app.facts.path));
    const {part} = app.facts;
    if (part)
      by('what').append(
          el('strong', {class: 'badge part', title: `This report is of a part: ${part.text}`}, 'PART'),
          el('bdi', {class: 'part-text', title: part.text}, part.text));
    if (app.simulated.length > 0) by('what').append(el('strong', {class: 'badge'}, 'SIMULATED'));
    this.fillChooser();
    this.fillNavigation();
    by('theme').addEventListener('click', () => this.toggleTheme());
    by('help').addEventListener('click', () => this.showKeys());
    addEventListener('keydown', (event) => this.key(event));
    addEventListener('popstate', () => this.goToAddress());
    app.onChange(() => this.show());
  }

  goToAddress(): void { this.app.goToAddress(this.offered.map((view) => view.name)); }

  private fillChooser(): void {
    if (this.app.devices.length < 2) return;
    const select =
        el('select', {id: 'device', 'aria-label': 'device'},
           ...this.app.devices.map((device, i) => el('option', {value: String(i)}, device.name)));
    select.addEventListener('change', () => this.app.go({device: Number(select.value)}));
    by('chooser').replaceChildren('device ', select);
  }

  private fillNavigation(): void {
    by('views').replaceChildren(
        ...this.offered.map((view, i) => {
          const link =
              el('a', {
                href: `#${view.name}`,
                'data-view': view.name,
                title: `${view.text} (${view.name === 'ranks' ? 'r' : i + 1})`
              },
                 view.text);
          link.addEventListener('click', (event: MouseEvent) => {
            event.preventDefault();
            this.app.go({view: view.name});
          });
          return link;
        }),
    );
    markCutEdges(by('views'), by('views'));
  }

  show(): void {
    const {view, device} = this.app.place;
    hideTip();
    let shown = this.views.get(view);
    if (!shown) {
      shown = this.offered.find((one) => one.name === view)!.make(this.app);
      this.views.set(view, shown);
    }
    const main = by('view');
    if (main.firstElementChild !== shown.element) {
      main.replaceChildren(shown.element);
      scrollTo(0, 0);
    }
    document.documentElement.dataset['view'] = view;
    for (const link of by('views').querySelectorAll<HTMLElement>('a')) {
      const isShown = link.dataset['view'] === view;
      link.setAttribute('aria-current', isShown ? 'page' : 'false');
      if (isShown) link.scrollIntoView({block: 'nearest', inline: 'nearest'});
    }
    const select = document.getElementById('device') as HTMLSelectElement | null;
    if (select) select.value = String(device);
    shown.update();
  }

  print(): void { this.views.get(this.app.place.view)?.print?.(); }

  private toggleTheme(): void {
    setTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark');
    this.show();
  }

  private showKeys(): void {
    const dialog = by('keys') as HTMLDialogElement;
    const close = el('button', {type: 'button'}, 'close');
    close.addEventListener('click', () => dialog.close());
    dialog.replaceChildren(
        el('h2', {}, 'Keys'),
        el('table', {class: 'plain'},
           el('tbody', {},
              ...kKeys.map(([key, text]) => el('tr', {}, el('th', {scope: 'row'}, key), el('td', {}, text))))),
        close);
    dialog.showModal();
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if ((by('keys') as HTMLDialogElement).open) return;  // the dialog's own
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (this.views.get(this.app.place.view)?.key?.(event) || this.shellKey(event.key)) event.preventDefault();
  }

  private shellKey(key: string): boolean {
    const view = /^[1-9]$/.test(key) ? kViews[Number(key) - 1] :
        key === 'r'                  ? this.offered.find((one) => one.name === 'ranks') :
                                       undefined;
    const {device} = this.app.place;
    if (view)
      this.app.go({view: view.name});
    else if (key === 't')
      this.toggleTheme();
    else if (key === '?')
      this.showKeys();
    else if (key === '[' && device > 0)
      this.app.go({device: device - 1});
    else if (key === ']' && device + 1 < this.app.devices.length)
      this.app.go({device: device + 1});
    else if (key === '/')
      by('view').querySelector<HTMLInputElement>('input[type=search]')?.focus();
    else
      return false;
    return true;
  }
}

async function main(): Promise<void> {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  setTheme(dark.matches ? 'dark' : 'light');
  const missing = missingFeature();
  if (missing !== '')
    return fail(`This browser lacks what the report needs: ${missing}. Open the file in a newer browser.`);
  const [facts, tables] = await Promise.all([sectionJson<Facts>('facts'), sectionJson<Tables>('tables')]);
  if (facts.devices.length === 0) {
    return fail(`No allocation was recorded in ${facts.path}${facts.part ? ` (${facts.part.text})` : ''}. ${
        (facts.losses.notes + facts.losses.lines).trim()}`);
  }
  const app = new App(facts, tables);
  app.firstDevice = await deviceThatMatters(app);
  const shell = new Shell(app);
  shell.goToAddress();
  dark.addEventListener('change', () => {
    setTheme(dark.matches ? 'dark' : 'light');
    shell.show();
  });
  // Paper is white. The current view is drawn again in place, because a new one would come too late.
  let theme = '';
  addEventListener('beforeprint', () => {
    theme = document.documentElement.dataset['theme'] ?? '';
    setTheme('light');
    shell.print();
    paintAll();
  });
  addEventListener('afterprint', () => {
    setTheme(theme);
    shell.print();
    paintAll();
  });
  document.documentElement.dataset['ready'] = 'yes';
  performance.mark('memoir-ready');
}

main().catch(
    (error: unknown) => fail(`This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
