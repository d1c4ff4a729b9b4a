// The findings of the checks, each with its command, in the order of harm.
import {command, el} from '../drawing/element';
import type {App} from '../report/app';
import type {Finding} from '../report/facts';

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

export const isFinding = ({answer}: Finding): boolean => answer === 'harmed' || answer === 'worth a look';

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
