// The findings of the checks, each with its command.
import type {App} from './app';
import {command, el} from './element';
import type {Finding} from './facts';

const kSigns: Record < Finding['answer'], {
  sign: string;
  name: string
}
> = {
  found: {sign: '!', name: 'found'},
  fine: {sign: '✓', name: 'fine'},
  'not known': {sign: '?', name: 'unknown'},
};

export function findings(app: App): HTMLElement {
  const cards = app.facts.findings.map((finding) => {
    const {sign, name} = kSigns[finding.answer];
    return el(
        'div', {class: `finding ${name}`},
        el('h3', {}, el('span', {class: 'sign', role: 'img', 'aria-label': finding.answer}, sign), `${finding.check}: `,
           el('bdi', {}, finding.headline)),
        finding.text !== '' && finding.check !== 'oom' ?
            el('details', {}, el('summary', {}, 'more'), el('pre', {}, finding.text)) :
            null,
        finding.answer === 'found' ? command(finding.command) : null);
  });
  return el('div', {class: 'card'}, el('h2', {}, 'Findings'), ...cards);
}

// The out-of-memory error that ended the program, if there was one; it stands first.
export function outOfMemory(app: App): HTMLElement|null {
  const finding = app.facts.findings.find((one) => one.check === 'oom' && one.answer === 'found');
  if (!finding) return null;
  const instant = app.instants().find((one) => one.kind === 'oom');
  const see = el('button', {type: 'button', class: 'primary'}, 'What was live at the error →');
  if (instant) see.addEventListener('click', () => app.go({view: 'timeline', instant: instant.time_ns}));
  return el(
      'div', {class: 'card wide-card ran-out'},
      el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'), finding.headline),
      el('pre', {}, finding.text.trim()), el('p', {}, command(finding.command)), instant ? see : null);
}
