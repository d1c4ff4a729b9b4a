// Points at bands of the picture of blocks at some instants, and prints what it saw as JSON:
//
//     node tests/browser/check_blocks.mjs REPORT.html '{"MARK": NS, ...}'
import {openReport, settle, show} from './report_page.mjs';

const marks = JSON.parse(process.argv[3]);
const {browser, page, said} = await openReport(process.argv[2], {width: 1280, height: 900});
await show(page, 'blocks');
await page.keyboard.press('0');
await settle(page);

const times = await page.evaluate(async () => {
  const packed = Uint8Array.from(atob(document.getElementById('facts').textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const {begin_ns, end_ns} = JSON.parse(await new Response(stream).text()).devices[0];
  return {from: begin_ns, to: end_ns};
});
const kMiB = 1 << 20;
const kTop = 1.02 * 112 * kMiB;  // of the y axis: the most bytes, and a margin

// The plot of a layout, which has `left` pixels for the labels of its y axis.
async function plotOf(left) {
  const box = await page.locator('.canvas-box canvas').boundingBox();
  return {x: box.x + left, y: box.y, width: box.width - left, height: box.height - 22};
}
const xOf = (plot, ns) => plot.x + ((ns - times.from) / (times.to - times.from)) * plot.width;

async function tipAt(x, y) {
  await page.mouse.move(x, y);
  return (await page.isVisible('#tip')) ? page.textContent('#tip strong') : null;
}

async function detailsAt(x, y) {
  await page.mouse.click(x, y);
  await settle(page);
  return page.textContent('.details tbody');
}

// Bytes at the highest pixel of a column that is neither transparent nor a line of the grid.
const topAt = (x, plot) => page.$eval('.canvas-box canvas', (canvas, {x, height, top}) => {
  const {left} = canvas.getBoundingClientRect();
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(Math.round(x - left), 0, 3, canvas.height);
  const colour = (y, dx) => data.slice((3 * y + dx) * 4, (3 * y + dx) * 4 + 4).join();
  for (let y = 0; y + 4 < height; ++y) {
    const same = [1, 2, 3].every((more) => colour(y + more, 1) === colour(y, 1));
    if (same && data[(3 * y + 1) * 4 + 3] === 255) return (1 - y / height) * top;
  }
  return 0;
}, {x, height: plot.height, top: kTop});

async function compacted() {
  const plot = await plotOf(78);
  const yOf = (mib) => plot.y + (1 - (mib * kMiB) / kTop) * plot.height;
  const tips = {};
  const tops = {};
  for (const [mark, ns] of Object.entries(marks)) {
    tips[mark] = {};
    for (const mib of [16, 32, 40, 49, 52, 57, 80, 104, 113]) tips[mark][mib] = await tipAt(xOf(plot, ns), yOf(mib));
    tops[mark] = await topAt(xOf(plot, ns), plot);
  }
  const axis = await page.textContent('.axis');
  return {axis, tips, tops, details: await detailsAt(xOf(plot, marks.two), yOf(16))};
}

async function addresses() {
  await page.click('.controls button[data-value=addresses]');
  await settle(page);
  const plot = await plotOf(118);
  const found = {};
  for (const [mark, ns] of Object.entries(marks)) {
    found[mark] = {64: null, 32: null, 16: null, 8: null};
    for (let y = 3; y < plot.height; y += 3) {
      const mib = (await tipAt(xOf(plot, ns), plot.y + y))?.match(/^(64|32|16|8)\.0 MiB/)?.[1];
      if (mib) found[mark][mib] ??= y;
    }
  }
  const axis = await page.textContent('.axis');
  return {axis, found, details: await detailsAt(xOf(plot, marks.two), plot.y + found.two[32] + 2)};
}

console.log(JSON.stringify({compacted: await compacted(), addresses: await addresses(), said}));
await browser.close();
