// Names and colours of the rows of a grouping, the same in every view.
import {categoryColour, kOther, rowColour} from '../drawing/colours';
import {el} from '../drawing/element';
import type {App} from './app';

export interface Labels {
  word: string;
  names: string[];
  colour(label: number): string;
}

// Canvases ask for a colour for every block.
function remembered(colour: (label: number) => string): (label: number) => string {
  const known: string[] = [];
  return (label) => (known[label] ??= colour(label));
}

export async function labelsOf(app: App, word: string): Promise<Labels> {
  const names = (await app.device.labels())[word] ?? [];
  if (word === 'category') {
    const known = app.facts.categories;
    const colour = (label: number): string => {
      const category = known[names[label] ?? ''];
      return category ? categoryColour(category.category, category.detail) : kOther();
    };
    return {word, names, colour: remembered(colour)};
  }
  const grouping = app.facts.groupings.find((one) => one.word === word);
  const rank = new Map<number, number>();
  if (grouping?.stacked) (await app.device.stack(word)).labels.forEach((label, i) => rank.set(label, i));
  return {
    word,
    names,
    colour: remembered((label) => (rank.size > 0 ? rowColour(rank.get(label) ?? Infinity) : rowColour(label % 24))),
  };
}

// The legend of the rows with their own colour, for views without a table.
export async function legendOf(app: App, labels: Labels): Promise<HTMLElement[]> {
  const entry = (name: string, colour: string): HTMLElement => {
    const swatch = el('i', {class: 'swatch'});
    swatch.style.background = colour;
    return el('span', {class: 'entry', title: name}, swatch, el('bdi', {}, name));
  };
  const known = (await app.device.stack(labels.word)).labels;
  const entries = known.map((label) => entry(labels.names[label] ?? '', labels.colour(label)));
  return labels.names.length > known.length && labels.word !== 'category' ? [...entries, entry('others', kOther())] :
                                                                            entries;
}
