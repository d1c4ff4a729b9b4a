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

export function clear(element: Element): void { element.replaceChildren(); }

const tip = (): HTMLElement => document.getElementById('tip')!;

// Beside the pointer; lines are shown one below the other, the first in bold.
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
