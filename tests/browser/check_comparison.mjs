// Opens the flame graph of a report with --baseline, and prints what it says of both captures as JSON. With PICTURE.png
// it makes that of docs/report.md, of the two recordings of docs/comparing.md:
//
//     node tests/browser/check_comparison.mjs REPORT.html [PICTURE.png]
import {openReport, settle, show} from './report_page.mjs';

const [file, picture] = process.argv.slice(2);
const {browser, page, said} = await openReport(file, {width: 1366, height: 768});

const textOf = (selector) => page.textContent(selector);

// What is told of the first node of each row, and of the others of the second one.
async function tips() {
  const found = [];
  const box = await page.locator('.flame-box canvas').boundingBox();
  const height = Number(await page.getAttribute('.flame-box canvas', 'data-row'));
  for (let row = 0; (row + 0.5) * height < box.height; ++row) {
    for (const x of row === 1 ? [0.02, 0.25, 0.5, 0.75, 0.98] : [0.02]) {
      await page.mouse.move(box.x + box.width * x, box.y + (row + 0.5) * height);
      const shown = await page.$$eval('#tip:not([hidden]) > *', (all) => all.map((one) => one.textContent));
      if (shown.length > 0) found.push({row, lines: shown});
    }
  }
  return found;
}

const colours = () => page.$eval('.flame-box canvas', (canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = {red: 0, blue: 0};
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] > data[i + 2] + 15) ++seen.red;
    if (data[i + 2] > data[i] + 40) ++seen.blue;
  }
  return seen;
});

const seen = {};
await show(page, 'flame');
for (const tree of ['modules', 'callers']) {
  await page.click(`.flame button[data-value=${tree}]`);
  await settle(page);
  seen[tree] = {note: await textOf('.flame > .note'), colours: await colours(), tips: await tips()};
  if (picture && tree === 'modules') {
    await page.mouse.move(2, 2);
    const box = await page.locator('section.flame').boundingBox();
    await page.screenshot({path: picture, clip: {x: 0, y: 0, width: 1366, height: box.y + box.height + 20}});
  }
}
await page.click('.flame button[data-value=ranges]');
await settle(page);
seen.ranges = {
  note: await textOf('.flame > .note'),
  compared: await page.locator('.flame button[data-value=either]').count()
};
seen.said = said;
console.log(JSON.stringify(seen));
await browser.close();
