// How long a report takes to open, and a frame while it is zoomed:  node tests/browser/speed.mjs REPORT.html
import {openReport, settle, show} from './report_page.mjs';

const file = process.argv[2];
if (!file) throw new Error('usage: node tests/browser/speed.mjs REPORT.html');
const {browser, page} = await openReport(file, {width: 1360, height: 860});
const opened = await page.evaluate(() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
  const ready = performance.getEntriesByName('memoir-ready')[0]?.startTime ?? 0;
  return {first_paint_ms: Math.round(paint), overview_ms: Math.round(ready)};
});

// The longest and the median of the frames while the wheel zooms in and out over a view.
async function frames(view, selector) {
  const begin = Date.now();
  await show(page, view);
  await page.waitForSelector(selector);
  const shown = Date.now() - begin;
  await settle(page);
  const box = await page.locator(selector).first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
  await page.waitForTimeout(1500);
  await page.evaluate(() => {
    window.frameTimes = [];
    let before = performance.now();
    const tick = (now) => {
      window.frameTimes.push(now - before);
      before = now;
      window.frameRequest = requestAnimationFrame(tick);
    };
    window.frameRequest = requestAnimationFrame(tick);
  });
  for (let i = 0; i < 40; ++i) {
    await page.mouse.wheel(0, i < 20 ? -120 : 120);
    await page.waitForTimeout(20);
  }
  const times = await page.evaluate(() => {
    cancelAnimationFrame(window.frameRequest);
    return window.frameTimes.slice(1).sort((a, b) => a - b);
  });
  return {
    shown_ms: shown,
    median_frame_ms: Math.round(times[times.length >> 1]),
    longest_frame_ms: Math.round(times[times.length - 1])
  };
}

const timeline = await frames('timeline', '.chart .u-over');
const blocks = await frames('blocks', '.canvas-box canvas');
console.log(JSON.stringify({...opened, timeline, blocks}));
await browser.close();
