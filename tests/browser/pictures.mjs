// The pictures of docs/report.md, of a report, of one of several ranks, of one of several GPUs of one process, of a job
// of very many ranks, and of a program that ran out of memory:
//
//     node tests/browser/pictures.mjs REPORT.html RANKS.html DEVICES.html MANY.html REFUSED.html [FOLDER]
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';

import {openReport, settle, show} from './report_page.mjs';

const [file, ranks, devices, many, refused, folder = 'docs/pictures'] = process.argv.slice(2);
if (!refused) {
  throw new Error(
      'usage: node tests/browser/pictures.mjs REPORT.html RANKS.html DEVICES.html MANY.html REFUSED.html [FOLDER]');
}
mkdirSync(folder, {recursive: true});

async function pictures(of, views, dark, more = async () => undefined, called = (view) => view) {
  const {browser, page, said} = await openReport(of, {width: 1280, height: 800, dark});
  for (const view of views) {
    await show(page, view);
    await settle(page);
    const name = `report-${called(view)}${dark ? '-dark' : ''}.png`;
    await page.screenshot({path: join(folder, name), fullPage: view === 'overview'});
  }
  await more(page);
  await browser.close();
  if (said.length > 0) throw new Error(said.join('\n'));
}

const views = ['overview', 'timeline', 'blocks', 'flame', 'segments', 'modules', 'operators', 'lines', 'parameters'];
await pictures(file, views, false, async (page) => {
  await show(page, 'flame');
  await page.click('.flame button[data-value=callers]');
  await settle(page);
  await page.screenshot({path: join(folder, 'report-callers.png')});
  await show(page, 'timeline');
  await page.click('.controls button[data-value=pool]');
  await page.click('.instant .choice button[data-value=module]');
  await settle(page);
  await page.locator('.instant').evaluate((panel) => panel.scrollIntoView());
  await page.screenshot({path: join(folder, 'report-instant.png')});
  await show(page, 'lines');
  await settle(page);
  await page.locator('.source-card').evaluate((card) => card.scrollIntoView());
  await page.screenshot({path: join(folder, 'report-source.png')});
});
await pictures(file, ['timeline'], true);
await pictures(ranks, ['ranks'], false);
await pictures(devices, ['ranks'], false, undefined, () => 'devices');
await pictures(many, ['ranks'], false, undefined, () => 'many-ranks');
await pictures(refused, [], false, async (page) => {
  await page.locator('.ran-out').screenshot({path: join(folder, 'report-out-of-memory.png')});
});
