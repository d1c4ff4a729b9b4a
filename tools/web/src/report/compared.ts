// The bytes at the peak of the capture with which the page compares, by name.
import type {App} from './app';
import type {Device} from './device';
import {unwrapped} from './paths';
import {sectionJson} from './payload';

const keyOf = (word: string, name: string): string => (word === 'module' ? unwrapped(name).join('.') : name);

export class BytesBefore {
  constructor(readonly peak: number, private readonly rows: Record<string, Map<string, number>>) {}

  // Lines are not compared, because an edit moves them.
  has(word: string): boolean { return this.rows[word] !== undefined; }
  of(word: string, name: string): number { return this.rows[word]?.get(keyOf(word, name)) ?? 0; }

  // The names that `names` lacks.
  missing(word: string, names: string[]): string[] {
    const known = new Set(names.map((name) => keyOf(word, name)));
    return [...(this.rows[word]?.keys() ?? [])].filter((name) => !known.has(name));
  }
}

async function read(device: Device): Promise<BytesBefore> {
  const {peak, ...rows} =
      await sectionJson<{peak: number; category: object; parameter: object}>(`before-peak${device.number}`);
  const {places, labels} = await device.before();
  const sumsOf = (word: 'module'|'operator'): Map<string, number> => {
    const sums = new Map<string, number>();
    for (let i = 0; i < places.count; ++i) {
      const key = keyOf(word, labels[word]?.[places[word][i]!] ?? '');
      if (places.atPeak[i]! > 0) sums.set(key, (sums.get(key) ?? 0) + places.atPeak[i]!);
    }
    return sums;
  };
  const mapOf = (of: object): Map<string, number> => new Map(Object.entries(of));
  return new BytesBefore(peak, {
    category: mapOf(rows.category),
    parameter: mapOf(rows.parameter),
    module: sumsOf('module'),
    operator: sumsOf('operator')
  });
}

const known = new WeakMap<Device, Promise<BytesBefore>>();

// Undefined if the page compares with no capture, or if that capture lacks the device.
export async function bytesBefore({device}: App): Promise<BytesBefore|undefined> {
  if (!device.hasBefore) return undefined;
  if (!known.has(device)) known.set(device, read(device));
  return known.get(device);
}
