// Opens every view of reports and prints what each said, as JSON:  node tests/browser/open_all.mjs REPORT.html...
import {openReport, settle, show} from './report_page.mjs';

const seen = {};
for (const file of process.argv.slice(2)) {
  const {browser, page, said, requests} = await openReport(file, {width: 1280, height: 800});
  const failed = (await page.isVisible('.failed')) ? await page.textContent('.failed') : null;
  const first = await page.$$eval('.overview h2', (all) => all[0]?.textContent ?? '');
  const views = failed === null ? await page.$$eval('#views a', (all) => all.map((one) => one.dataset.view)) : [];
  for (const view of views) {
    await show(page, view);
    await settle(page);
  }
  seen[file] = {failed, said, requests: requests(), views: views.length, first};
  await browser.close();
}
console.log(JSON.stringify(seen));
