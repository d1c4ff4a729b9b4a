// The reader's place in the report, as the part of the page's address after #, so that a copied link opens the same:
//
//     #flame;device=3;instant=1200000;from=0;to=5000000;tree=callers;find=linear
//
// What is as at first is left out.
import type {FlameBy, Place, ViewName} from './app';

const kTrees: FlameBy[] = ['modules', 'ranges', 'callers'];
const kSeparator = '›';  // between names of modules

// `atFirst`: the place at which the device is shown first. `firstDevice`: the device that is shown first.
export function addressOf(place: Place, atFirst: Place, firstDevice: number): string {
  const values: [string, string, string][] = [
    ['device', String(place.device), String(firstDevice)],
    ['by', place.by, atFirst.by],
    ['instant', String(place.instant), String(atFirst.instant)],
    ['from', String(Math.round(place.from)), String(Math.round(atFirst.from))],
    ['to', String(Math.round(place.to)), String(Math.round(atFirst.to))],
    ['tree', place.flame, 'modules'],
    ['focus', place.focus.join(kSeparator), ''],
    ['find', place.found[place.view] ?? '', ''],
  ];
  const changed = values.filter(([, value, first]) => value !== first);
  return [`#${place.view}`, ...changed.map(([key, value]) => `${key}=${encodeURIComponent(value)}`)].join(';');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';  // "%" without two digits
  }
}

// Returns the place of an address. Values that are missing, or that this report does not have, are as at first.
// `atFirst`: the place at which a device is shown first.
export function placeOf(
    address: string, views: ViewName[], devices: number, firstDevice: number,
    atFirst: (device: number) => Place): Place {
  const [view, ...rest] = address.replace(/^#/, '').split(';');
  const values = new Map(rest.map((part): [string, string] => {
    const at = part.indexOf('=');
    return [part.slice(0, at), decoded(part.slice(at + 1))];
  }));
  const device = Number(values.get('device') ?? firstDevice);
  const place = atFirst(Number.isInteger(device) && device >= 0 && device < devices ? device : firstDevice);
  if (views.includes(view as ViewName)) place.view = view as ViewName;
  const number = (key: 'from'|'instant'|'to'): void => {
    const value = Number(values.get(key) || NaN);
    if (Number.isFinite(value)) place[key] = value;
  };
  number('instant');
  const {from, to} = place;
  number('from');
  number('to');
  if (place.from >= place.to) Object.assign(place, {from, to});
  place.by = values.get('by') ?? place.by;
  const tree = values.get('tree') as FlameBy | undefined;
  if (tree && kTrees.includes(tree)) place.flame = tree;
  place.focus = (values.get('focus') ?? '').split(kSeparator).filter((name) => name !== '');
  const wanted = values.get('find') ?? '';
  if (wanted !== '') place.found[place.view] = wanted;
  return place;
}
