// The pictures of docs/report.md, of a report:  node tests/browser/pictures.mjs REPORT.html [FOLDER]
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';

import {openReport, settle, show} from './report_page.mjs';

const [file, folder = 'docs/pictures'] = process.argv.slice(2);
if (!file) throw new Error('usage: node tests/browser/pictures.mjs REPORT.html [FOLDER]');
mkdirSync(folder, {recursive: true});

const kept = {
  light: ['overview', 'timeline', 'blocks', 'flame', 'segments'],
  dark: ['timeline']
};
for (const theme of ['light', 'dark']) {
  const {browser, page, said} = await openReport(file, {width: 1280, height: 800, dark: theme === 'dark'});
  for (const view of kept[theme]) {
    await show(page, view);
    await settle(page);
    const name = `report-${view}${theme === 'dark' ? '-dark' : ''}.png`;
    await page.screenshot({path: join(folder, name), fullPage: view === 'overview'});
  }
  if (theme === 'light') {
    await show(page, 'flame');
    await page.click('.flame button[data-value=callers]');
    await settle(page);
    await page.screenshot({path: join(folder, 'report-callers.png')});
  }
  await browser.close();
  if (said.length > 0) throw new Error(said.join('\n'));
}
