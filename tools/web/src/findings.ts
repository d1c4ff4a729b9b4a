// The findings of the checks, each with its command, in the order of harm.
import type {App} from './app';
import {command, el} from './element';
import type {Finding} from './facts';

const kSigns: Record < Finding['answer'], {
  sign: string;
  name: string
}
> = {
  harmed: {sign: '!', name: 'harmed'},
  'worth a look': {sign: '!', name: 'look'},
  'not known': {sign: '?', name: 'unknown'},
  fine: {sign: '✓', name: 'fine'},
};

const isFinding = ({answer}: Finding): boolean => answer === 'harmed' || answer === 'worth a look';

export function findings(app: App): HTMLElement {
  const order = Object.keys(kSigns);
  const sorted = [...app.facts.findings].sort((a, b) => order.indexOf(a.answer) - order.indexOf(b.answer));
  const cards = sorted.map((finding) => {
    const {sign, name} = kSigns[finding.answer];
    return el(
        'div', {class: `finding ${name}`},
        el('h3', {}, el('span', {class: 'sign', role: 'img', 'aria-label': finding.answer}, sign), `${finding.check}: `,
           el('bdi', {}, finding.headline)),
        finding.text !== '' && finding.check !== 'oom' ?
            el('details', {}, el('summary', {}, 'more'), el('pre', {}, finding.text)) :
            null,
        isFinding(finding) ? command(finding.command) : null);
  });
  return el('div', {class: 'card'}, el('h2', {}, 'Findings'), ...cards);
}

// The out-of-memory error that ended the program, if there was one; it stands first.
export function outOfMemory(app: App): HTMLElement|null {
  const finding = app.facts.findings.find((one) => one.check === 'oom' && isFinding(one));
  if (!finding) return null;
  const instant = app.instants().find((one) => one.kind === 'oom');
  const see = el('button', {type: 'button', class: 'primary'}, 'What was live at the error →');
  if (instant) see.addEventListener('click', () => app.go({view: 'timeline', instant: instant.time_ns}));
  return el(
      'div', {class: 'card wide-card ran-out'},
      el('h2', {}, el('span', {class: 'sign', 'aria-hidden': 'true'}, '!'), finding.headline),
      el('pre', {}, finding.text.trim()), el('p', {}, command(finding.command)), instant ? see : null);
}
