// How long a report takes to open, and a frame while it is zoomed:  node tests/browser/speed.mjs REPORT.html
import {rendererMebibytes, zoomFrames} from './frames.mjs';
import {openReport, settle, show} from './report_page.mjs';

const file = process.argv[2];
if (!file) throw new Error('usage: node tests/browser/speed.mjs REPORT.html');
const {browser, page} = await openReport(file, {width: 1360, height: 860});
const opened = await page.evaluate(() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
  const ready = performance.getEntriesByName('memoir-ready')[0]?.startTime ?? 0;
  return {first_paint_ms: Math.round(paint), overview_ms: Math.round(ready)};
});

async function frames(view, selector) {
  const begin = Date.now();
  await show(page, view);
  await page.waitForSelector(selector);
  const shown = Date.now() - begin;
  await settle(page);
  return {shown_ms: shown, ...(await zoomFrames(page, selector))};
}

// In a page of its own: until its blocks are drawn, from the beginning on.
async function untilBlocks() {
  const direct = await openReport(file, {width: 1360, height: 860, hash: '#blocks'});
  await settle(direct.page);
  const ms = await direct.page.evaluate(() => Math.round(performance.now()));
  await direct.browser.close();
  return ms;
}

const timeline = await frames('timeline', '.chart .u-over');
const blocks = await frames('blocks', '.canvas-box canvas');
console.log(JSON.stringify(
    {...opened, blocks_ms: await untilBlocks(), timeline, blocks, renderer_mib: await rendererMebibytes(browser)}));
await browser.close();
