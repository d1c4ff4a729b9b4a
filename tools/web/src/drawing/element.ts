// Elements of the page. Text goes in as text, never as markup: names of programs may say anything.

type Child = Node|string|null|undefined|false;

export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string|boolean|((event: never) => void)> = {},
    ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function')
      element.addEventListener(name.replace(/^on/, ''), value as EventListener);
    else if (typeof value === 'boolean')
      element.toggleAttribute(name, value);
    else
      element.setAttribute(name, value);
  }
  element.append(...children.filter((child): child is Node|string => !!child || child === ''));
  return element;
}

// Replaces the children, and restores the focus to the element that had it.
export function replaceContent(parent: Element, ...children: Child[]): void {
  const active = document.activeElement;
  const had = active && active !== parent && parent.contains(active) ? nameOf(active) : '';
  parent.replaceChildren(...children.filter((child): child is Node|string => !!child));
  if (had === '') return;
  for (const element of parent.querySelectorAll<HTMLElement>('button, select, canvas, [tabindex]'))
    if (nameOf(element) === had) return element.focus({preventScroll: true});
}

// Tells an element from the others that can have the focus.
function nameOf(element: Element): string {
  const group = element.parentElement?.getAttribute('aria-label') ?? '';
  return [element.tagName, group, element.getAttribute('aria-label') ?? element.textContent].join('\n');
}

// A row that answers a click can be reached and chosen by the keyboard, too.
export function chosenByClick(row: HTMLElement, choose: () => void): void {
  row.classList.add('chosen-by-click');
  row.tabIndex = 0;
  row.addEventListener('click', choose);
  row.addEventListener('keydown', (event) => {
    if (event.target !== row || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    event.stopPropagation();
    choose();
  });
}

// A button that opens what belongs to its row. It shows whether that is open.
export function triangleButton(label: string, open: boolean): HTMLElement {
  const triangle = el('button', {type: 'button', class: 'triangle', 'aria-label': label});
  turnTriangle(triangle, open);
  return triangle;
}

export function turnTriangle(triangle: HTMLElement, open: boolean): void {
  triangle.textContent = open ? '▾' : '▸';
  triangle.setAttribute('aria-expanded', String(open));
}

// Makes a row open and close other rows: by a click on it, or by the triangle, a button that the row then begins with.
export function opensRows(row: HTMLElement, open: boolean, toggle: () => void): HTMLElement {
  const triangle = triangleButton('layers', open);
  row.classList.add('merged', 'chosen-by-click');
  row.firstElementChild!.prepend(triangle);
  row.addEventListener('click', toggle);
  return triangle;
}

const tip = (): HTMLElement => document.getElementById('tip')!;

// Shows a tip at the pointer, one line below the other, the first in bold.
export function showTip(event: {clientX: number; clientY: number}, lines: string[]): void {
  const box = tip();
  box.replaceChildren(...lines.map((line, i) => el(i === 0 ? 'strong' : 'span', {}, line)));
  box.hidden = false;
  const {width, height} = box.getBoundingClientRect();
  const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
  const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void { tip().hidden = true; }

// One of several buttons is chosen.
export function choice<T extends string>(
    label: string, options: {value: T; text: string}[], chosen: T, choose: (value: T) => void): HTMLElement {
  const group =
      el('div', {class: 'choice', role: 'radiogroup', 'aria-label': label}, el('span', {class: 'label'}, label));
  for (const option of options) {
    const button =
        el('button',
           {type: 'button', role: 'radio', 'aria-checked': String(option.value === chosen), 'data-value': option.value},
           option.text);
    button.addEventListener('click', () => choose(option.value));
    group.append(button);
  }
  return group;
}

// A command to paste.
export function command(text: string): HTMLElement {
  const button = el('button', {type: 'button', class: 'copy', title: 'copy'}, 'copy');
  button.addEventListener('click', () => {
    navigator.clipboard?.writeText(text).then(
        () => (button.textContent = 'copied'),
        () => (button.textContent = 'select and copy'),
    );
  });
  return el('span', {class: 'command'}, el('code', {}, text), button);
}
