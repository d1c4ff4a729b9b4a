// The ranks of a job, or the devices of a process, as a strip of bars as high as their peaks: those that stand out are
// marked, and a click shows one. And which of them the report shows first.
import {el} from '../drawing/element';
import {formatBytes, plural} from '../drawing/units';
import type {App} from '../report/app';
import type {Device} from '../report/device';
import {hasSteps, kindsOf, nounOf, rankCurves, wholeOf} from '../report/rank_curves';

const kMostBars = 128;      // of more devices, each bar stands for several
const kMostCompared = 512;  // devices whose curves are compared before the report is shown

const peakOf = (device: Device): number => device.summary.peak_allocated_bytes ?? 0;

function highestOf(devices: Device[]): Device {
  return devices.reduce((best, device) => peakOf(device) > peakOf(best) ? device : best);
}

// The devices that stand out by their bytes over time (rank_curves.ts), the furthest first.
export async function oddDevices(app: App): Promise<Device[]> {
  const odd = await Promise.all([...kindsOf(app).values()].filter(({length}) => length > 2).map(async (devices) => {
    const align = hasSteps(devices) ? 'step' : 'time';
    const {from, to} = wholeOf(devices, align);
    const {ranks} = await rankCurves(devices, align, from, to, 1);
    return ranks.filter((rank) => rank.odd).sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
  }));
  return odd.flat().map((rank) => rank.device);
}

// The number of the device that the report shows first: the device of the worst finding, else a device that stands out,
// else, among the devices of the first device's kind, the device with the highest peak.
export async function deviceThatMatters(app: App): Promise<number> {
  const found = (answer: string): Device|undefined => {
    for (const finding of app.facts.findings.filter((one) => one.answer === answer)) {
      const [where] = finding.devices;
      const device =
          app.devices.find(({facts}) => facts.device === where?.device && facts.process === where.process);
      if (device) return device;
    }
    return undefined;
  };
  const harmed = found('harmed');
  if (harmed) return harmed.number;
  const [odd] = app.devices.length <= kMostCompared ? await oddDevices(app) : [];
  const kind = [...kindsOf(app).values()].find((devices) => devices.includes(app.devices[0]!)) ?? [app.devices[0]!];
  return (odd ?? found('worth a look') ?? highestOf(kind)).number;
}

function bar(app: App, devices: Device[], most: number, odd: Set<Device>): HTMLElement {
  const highest = devices.find((device) => odd.has(device)) ?? highestOf(devices);
  const stands = odd.has(highest);
  const text = devices.length === 1 ? highest.name : `${devices[0]!.name} to ${devices[devices.length - 1]!.name}`;
  const button = el('button', {
    type: 'button',
    class: stands ? 'odd' : '',
    'aria-pressed': String(devices.includes(app.device)),
    title: `${text}: peak ${formatBytes(peakOf(highest))}${stands ? ', stands out' : ''}`,
    'aria-label': `${text}: peak ${formatBytes(peakOf(highest))}${stands ? ', stands out' : ''}`,
  });
  const filled = el('i');
  filled.style.height = `${Math.max(2, (100 * peakOf(highest)) / most)}%`;
  button.append(filled);
  button.addEventListener('click', () => app.go({device: highest.number}));
  return button;
}

// A strip for the kind of the shown device. null: there is no other device of its kind.
export function rankStrip(app: App): HTMLElement|null {
  const devices = [...kindsOf(app).values()].find((kind) => kind.includes(app.device));
  if (!devices) return null;
  const each = Math.ceil(devices.length / kMostBars);
  const most = Math.max(1, ...devices.map(peakOf));
  const bars = el('div', {class: 'strip', role: 'group', 'aria-label': `peak of each ${nounOf(devices)}`});
  const note = el('p', {class: 'note'});
  const fill = (odd: Set<Device>): void => {
    bars.replaceChildren();
    for (let i = 0; i < devices.length; i += each)
      bars.append(bar(app, devices.slice(i, i + each), most, odd));
    const standing = devices.filter((device) => odd.has(device));
    const names = standing.slice(0, 4).map((device) => device.name).join(', ');
    note.textContent = `${plural(devices.length, nounOf(devices))}, each bar a peak${each > 1 ? ` of ${each}` : ''}. ${
        standing.length === 0 ? 'None stands out.' :
                                `Red: ${names}${standing.length > 4 ? ', …' : ''} ${
                                    standing.length === 1 ? 'stands' : 'stand'} out. `} Shown: ${app.device.name}.`;
  };
  fill(new Set());
  if (devices.length <= kMostCompared) app.draws(oddDevices(app).then((odd) => fill(new Set(odd))));
  return el('div', {class: 'card wide-card ranks-strip'}, bars, note);
}
