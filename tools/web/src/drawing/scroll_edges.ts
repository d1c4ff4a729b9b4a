// A box that scrolls sideways, with a shadow at each edge behind which something is cut off.
import {el} from './element';

// Sets the classes `cut-left` and `cut-right` of `marked` while `scroll` has content beyond that edge.
export function markCutEdges(scroll: HTMLElement, marked: HTMLElement): void {
  const mark = (): void => {
    marked.classList.toggle('cut-left', scroll.scrollLeft > 1);
    marked.classList.toggle('cut-right', scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
  };
  scroll.addEventListener('scroll', mark, {passive: true});
  const observer = new ResizeObserver(mark);
  observer.observe(scroll);
  for (const child of scroll.children) observer.observe(child);
}

export function scrollBox(content: HTMLElement): HTMLElement {
  const scroll = el('div', {class: 'scroll'}, content);
  const box = el('div', {class: 'scroll-box'}, scroll);
  markCutEdges(scroll, box);
  return box;
}
