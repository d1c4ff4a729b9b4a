// Goes through a report as a reader does, and prints what its address, Back, Forward and a copied link show, as JSON:
//
//     node tests/browser/check_links.mjs REPORT.html
import {openReport, settle, show} from './report_page.mjs';

const [file] = process.argv.slice(2);
const size = {width: 1280, height: 900};
const {browser, page, said} = await openReport(file, size);

// What the reader sees of the place.
const placeOf = (on) => on.evaluate(() => ({
  view: document.documentElement.dataset.view,
  device: document.querySelector('#chooser select')?.selectedOptions[0].textContent ?? null,
  shown: document.querySelector('.headline h2')?.textContent ?? null,
  tree: document.querySelector('.flame [aria-checked=true]')?.dataset.value ?? null,
  crumbs: [...document.querySelectorAll('.flame .crumbs button')].map((one) => one.textContent),
  find: document.querySelector('#view input[type=search]')?.value ?? null,
  rows: document.querySelectorAll('.rows tbody tr').length,
}));
const addressed = () => page.evaluate(() => location.hash);
const places = [];
const remember = async () => {
  await settle(page);
  await page.waitForTimeout(400);  // a search is in the address once the reader pauses
  places.push({address: await addressed(), place: await placeOf(page)});
};

await remember();
await page.keyboard.press(']');
await settle(page);
await page.keyboard.press('[');
await remember();
await show(page, 'timeline');
await page.locator('.chips button').last().click();
await remember();
await page.keyboard.press('+');
await remember();
await show(page, 'modules');
await page.fill('.rows .find', '2');
await remember();
await show(page, 'flame');
await page.click('.flame button[data-value=ranges]');
await settle(page);
const box = await page.locator('.flame-box canvas').boundingBox();
await page.mouse.click(box.x + 20, box.y + 35);
await remember();
await page.fill('.flame .find', 'aten::');
await remember();

const copied = [];
for (const {address} of places) {
  const other = await openReport(file, {...size, hash: address});
  await settle(other.page);
  copied.push(await placeOf(other.page));
  await other.browser.close();
}

const back = [];
const views = new Set();
for (let i = 0; i < 30 && (await addressed()) !== places[0].address; ++i) {
  await page.goBack();
  await settle(page);
  views.add(await page.evaluate(() => document.documentElement.dataset.view));
}
back.push(await placeOf(page));
for (let i = 0; i < 30 && (await addressed()) !== places[places.length - 1].address; ++i) {
  await page.goForward();
  await settle(page);
}
const forward = await placeOf(page);

const wrong = [];
for (const hash of ['#nowhere', '#flame;device=99;instant=x;from=9;to=1;by=%E0%A4%A;focus=no›such;tree=tall', '#;;;===']) {
  const other = await openReport(file, {...size, hash});
  await settle(other.page);
  wrong.push({...await placeOf(other.page), said: other.said});
  await other.browser.close();
}
console.log(JSON.stringify({places, copied, back: back[0], views: [...views], forward, wrong, said}));
await browser.close();
