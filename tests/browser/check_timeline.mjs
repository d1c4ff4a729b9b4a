// Points at the timeline of a report, drags in its strip, and prints what it saw as JSON:
//
//     node tests/browser/check_timeline.mjs REPORT.html
import {openReport, settle, show} from './report_page.mjs';

const {browser, page, said} = await openReport(process.argv[2], {width: 1280, height: 900});
await show(page, 'timeline');

// What the file contains of the shown device.
const facts = await page.evaluate(async () => {
  const packed = Uint8Array.from(atob(document.getElementById('facts').textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const all = JSON.parse(await new Response(stream).text());
  const device = all.devices[document.querySelector('#chooser select')?.selectedIndex ?? 0];
  const process = all.processes.find((one) => one.process === device.process);
  return {
    begin_ns: device.begin_ns,
    end_ns: device.end_ns,
    steps_ns: process.steps_ns,
    peak_ns: device.instants.find((one) => one.kind === 'peak').time_ns,
  };
});

const plot = await page.locator('.chart .u-over').boundingBox();

async function pointAt(share, pixels = 0) {
  const x = plot.x + share * plot.width + pixels;
  await page.mouse.move(x, plot.y + plot.height / 2);
  await settle(page);
  const mark = await page.$eval('.snap', (one) => [parseFloat(one.style.left), parseFloat(one.style.top)]);
  return {x: share * plot.width, text: await page.textContent('#tip strong'), mark};
}

const momentOf = (text) => Number(text.match(/at ([\d.]+) s/)[1]) * 1e9;
const edges = [momentOf((await pointAt(0, 1)).text), momentOf((await pointAt(1, -1)).text)];

// The begin of the step of the peak, with the margin of the page.
const step = facts.steps_ns.filter((ns) => ns <= facts.peak_ns).length - 1;
const [begin, end] = [facts.steps_ns[step], facts.steps_ns[step + 1] ?? facts.end_ns];
const margin = (end - begin) * 0.04;
const [from, to] = [Math.max(facts.begin_ns, begin - margin), Math.min(facts.end_ns, end + margin)];
const peakShare = (facts.peak_ns - from) / (to - from);

const tips = {at: await pointAt(peakShare), near: await pointAt(peakShare, 3), far: await pointAt(peakShare, -40)};
await page.mouse.click(plot.x + peakShare * plot.width - 3, plot.y + plot.height / 2);
await settle(page);
const clicked = await page.textContent('.headline h2');
await page.click('.controls button[data-value=device]');
await settle(page);
const onDeviceAxis = await pointAt(peakShare);

// The window as it is in the address.
async function windowOf() {
  await page.waitForTimeout(400);  // a continuous change is in the address after a pause
  const values = new Map(new URL(page.url()).hash.slice(1).split(';').map((part) => part.split('=')));
  return [Number(values.get('from') ?? from), Number(values.get('to') ?? to)];
}

const strip = await page.locator('.minimap canvas').boundingBox();
const stripX = (share) => strip.x + (plot.x - strip.x) + share * plot.width;
async function drag(first, last) {
  await page.mouse.move(stripX(first), strip.y + strip.height / 2);
  await page.mouse.down();
  await page.mouse.move(stripX((first + last) / 2), strip.y + strip.height / 2);
  await page.mouse.move(stripX(last), strip.y + strip.height / 2);
  await page.mouse.up();
  await settle(page);
  return windowOf();
}

await page.keyboard.press('0');
await settle(page);
const windows = {};
windows.selected = await drag(0.2, 0.6);
windows.moved = await drag(0.4, 0.5);
windows.resized = await drag(0.7, 0.9);
await page.mouse.click(stripX(0.1), strip.y + strip.height / 2);
await settle(page);
windows.clicked = await windowOf();
await page.mouse.dblclick(stripX(0.5), strip.y + strip.height / 2);
await settle(page);
windows.whole = await windowOf();

console.log(JSON.stringify({...facts, plot, edges, tips, clicked, on_device_axis: onDeviceAxis, strip: windows, said}));
await browser.close();
