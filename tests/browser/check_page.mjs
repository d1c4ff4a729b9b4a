// Opens every view of a report, clicks, searches and zooms in it, and prints what it saw as JSON:
//
//     node tests/browser/check_page.mjs REPORT.html WIDTH HEIGHT
//
// tests/browser/test_report_page.py compares that with what the program says.
import {openReport, settle, show} from './report_page.mjs';

const [file, width, height] = process.argv.slice(2);
const {browser, page, said, requests} = await openReport(file, {width: Number(width), height: Number(height)});
const seen = {};

const texts = (selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));
const exact = (title) => (title ? Number(title.replace(/[^0-9]/g, '')) : null);
// Rows of the first table in `selector`: name and exact bytes of its first column of bytes.
const rowsOf = async (selector) => {
  const rows = await page.$$eval(
      `${selector} tbody tr`,
      (all) => all.map(
          (row) => ({
            name: (row.cells[0].querySelector('bdi') ?? row.cells[0]).textContent,
            title: [...row.cells].map((cell) => cell.title).find((title) => /^[\d,]+ bytes$/.test(title)) ?? null
          })),
  );
  return rows.map(({name, title}) => ({name, bytes: exact(title)}));
};
const ended = async () => settle(page);

async function overview() {
  await show(page, 'overview');
  seen.overview = {
    peak: exact(await page.getAttribute('.hero .peak', 'title')),
    kind: await page.textContent('.hero .kind strong'),
    categories: await rowsOf('.card.category table'),
    findings: await texts('.finding h3'),
    spark: await painted('.spark canvas'),
  };
}

// How many colours a canvas shows: one that was never drawn shows none.
const painted = (selector) => page.$eval(selector, (canvas) => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 0) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return colours.size;
});

// How many of the colours that swatches name a canvas shows: axes and texts have others.
const paintedAs = (selector, swatches) => page.evaluate(([selector, swatches]) => {
  const named = [...document.querySelectorAll(swatches)].map((one) => getComputedStyle(one).backgroundColor);
  const wanted = new Set(named.map((one) => one.match(/\d+/g).slice(0, 3).join()));
  const found = new Set();
  for (const canvas of document.querySelectorAll(selector)) {
    // Of a copy: Chromium warns of a canvas that is read twice.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] === 255) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
  }
  return [...wanted].filter((one) => {
    const [red, green, blue] = one.split(',').map(Number);
    return found.has((red << 16) | (green << 8) | blue);
  }).length;
}, [selector, swatches]);

// The next device, where there is one.
async function otherDevice() {
  await page.keyboard.press(']');
  await ended();
  const device = await page.$eval(
      '#chooser', (chooser) => chooser.querySelector('select')?.selectedOptions[0].textContent ?? null);
  const peak = exact(await page.getAttribute('.hero .peak', 'title'));
  await page.keyboard.press('[');
  await ended();
  seen.other_device = {device, peak};
}

async function timeline() {
  await show(page, 'timeline');
  await page.waitForSelector('.chart .u-over');
  await page.click('.chips button.peak');
  await page.waitForFunction(() => document.querySelector('.headline h2')?.textContent.includes('peak'));
  const groupings = await page.$$eval('.instant .choice button', (all) => all.map((one) => one.dataset.value));
  const rows = {};
  for (const word of groupings) {
    await page.click(`.instant .choice button[data-value="${word}"]`);
    await page.waitForFunction(
        (wanted) => document.querySelector('.instant .choice button[aria-checked=true]')?.dataset.value === wanted,
        word);
    await ended();
    while (await page.isVisible('.split .more')) await page.click('.split .more');
    rows[word] = await rowsOf('.split .table');
  }
  await page.evaluate(() => scrollTo(0, 0));
  const box = await page.locator('.chart .u-over').boundingBox();
  const axis = () => page.$eval('.chart canvas', (canvas) => canvas.toDataURL());
  const before = await axis();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2);
  const tip = await page.textContent('#tip');
  for (let i = 0; i < 6; ++i) await page.mouse.wheel(0, -240);
  await ended();
  const zoomed = await axis();
  await page.keyboard.press('0');
  await ended();
  const whole = await axis();
  await page.mouse.click(box.x + box.width * 0.93, box.y + box.height / 2);
  await ended();
  const clicked = await page.textContent('.headline h2');
  const by = {};
  for (const word of ['layers', 'module', 'operator', 'line', 'category']) {
    await page.click(`.controls .choice button[data-value=${word}]`);
    await ended();
    by[word] = await texts('.legend .entry');
  }
  await page.keyboard.press('p');
  await ended();
  seen.timeline = {
    rows,
    tip,
    zoom_changed: before !== zoomed,
    whole_changed: zoomed !== whole,
    clicked,
    legend: by,
    stepped: await page.textContent('.headline h2'),
    map: await painted('.split .map canvas')
  };
}

// The longest stretch of one colour that is not the background's, and no line, in shares of the canvas.
const widestBand = () => page.$eval('.canvas-box canvas', (canvas) => {
  const {width, height} = canvas;
  // Of a copy: Chromium warns of a canvas that is read twice.
  const copy = new OffscreenCanvas(width, height).getContext('2d');
  copy.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
  const colour = (x, y) => pixels[y * width + x];
  const left = Math.ceil(80 * width / canvas.clientWidth);
  let best = {begin: 0, y: 0, length: 0};
  for (let y = 4; y < height - 30; y += 3) {
    for (let x = left, begin = left; x < width; ++x) {
      const here = colour(x, y);
      if (here !== colour(begin, y)) begin = x;
      const isBand = here >>> 24 > 0 && here === colour(x, y - 2) && here === colour(x, y + 2);
      if (isBand && x - begin > best.length) best = {begin, y, length: x - begin};
    }
  }
  return {begin: best.begin / width, length: best.length / width, y: best.y / height};
});

async function blocks() {
  await show(page, 'blocks');
  await ended();
  const note = await page.textContent('.blocks > .note');
  const colours = await paintedAs('.canvas-box canvas', '.blocks .legend .swatch');
  const box = await page.locator('.canvas-box canvas').boundingBox();
  const band = await widestBand();
  let details = '';
  // Blocks of one colour may follow each other within a pixel: between two of them none is live.
  for (const share of [0.5, 0.3, 0.7]) {
    if (details !== '') break;
    await page.mouse.click(box.x + (band.begin + share * band.length) * box.width, box.y + band.y * box.height);
    await ended();
    details = (await page.textContent('.details')) ?? '';
  }
  await page.mouse.wheel(0, -360);
  await ended();
  seen.blocks = {note, colours, details};
}

async function flame() {
  await show(page, 'flame');
  await ended();
  const note = await page.textContent('.flame > .note');
  await page.fill('.flame .find', 'aten::');
  await ended();
  const found = await page.textContent('.flame > .note');
  await page.fill('.flame .find', '');
  const row = Number(await page.getAttribute('.flame-box canvas', 'data-row'));
  await page.click('.flame-box canvas', {position: {x: 12, y: 1.5 * row}});
  await ended();
  const crumbs = await texts('.crumbs button');
  await page.locator('.flame .find').blur();
  await page.keyboard.press('Escape');
  await ended();
  const notes = {};
  for (const measure of ['allocated', 'temporary', 'kept', 'atPeak']) {
    await page.click(`.flame button[data-value=${measure}]`);
    await ended();
    notes[measure] = await page.textContent('.flame > .note');
  }
  const lastNote = () => page.textContent('.flame > .note');
  await page.click('.flame button[data-value=callers]');
  await ended();
  const callers = await lastNote();
  // All that is live at the peak is new since the beginning.
  await page.click('.flame button[data-value=grown]');
  await ended();
  const until = page.locator('.flame select[aria-label="instant: to"]');
  await until.selectOption(await until.locator('option', {hasText: 'peak'}).first().getAttribute('value'));
  await ended();
  const grown = await lastNote();
  await page.click('.flame button[data-value=atPeak]');
  await page.click('.flame button[data-value=ranges]');
  await ended();
  seen.flame = {
    note,
    found,
    callers,
    grown,
    crumbs,
    back: await page.isHidden('.crumbs'),
    notes,
    ranges: await page.textContent('.flame > .note'),
    colours: await painted('.flame-box canvas')
  };
}

async function segments() {
  await show(page, 'segments');
  await ended();
  if (await page.isVisible('.segments .empty')) return (seen.segments = null);
  await page.click('.segments .chips button.peak');
  await ended();
  await page.click('.segments button[data-value=addresses]');
  await ended();
  while (await page.isVisible('.segments .more')) await page.click('.segments .more');
  const rows = await page.$$eval(
      '.segments .table tbody tr',
      (all) => all.map(
          (row) =>
              [row.cells[0].textContent, row.cells[1].title, row.cells[2].title, row.cells[5].textContent,
               row.cells[6].textContent]));
  seen.segments = {
    headline: await page.textContent('.segments h2'),
    rows: rows.map(([address, bytes, free, pool,
                     stream]) => ({address, bytes: exact(bytes), free: exact(free), pool, stream: Number(stream)}))
  };
}

async function ranks() {
  if (!(await page.isVisible('#views a[data-view=ranks]'))) return (seen.ranks = null);
  await show(page, 'ranks');
  await page.waitForSelector('.ranks-rows .rank-row');
  await ended();
  const rows = () =>
      page.$$eval('.ranks-rows .rank-row', (all) => all.map((row) => ({
                                                              name: row.querySelector('.link').textContent,
                                                              peak: row.querySelector('.peak-of').title,
                                                              odd: row.classList.contains('odd')
                                                            })));
  const byStep = await rows();
  const colours = await paintedAs('.rank-line canvas', '.ranks-rows .swatch');
  await page.click('.ranks button[data-value=time]');
  await ended();
  const byTime = await rows();
  const box = await page.locator('.ranks-rows .rank-row canvas').last().boundingBox();
  await page.mouse.click(box.x + box.width * 0.8, box.y + box.height / 2);
  await ended();
  const exactRows = (all) => all.map((row) => ({...row, peak: exact(row.peak)}));
  seen.ranks = {
    by_step: exactRows(byStep),
    by_time: exactRows(byTime),
    colours,
    view: await page.getAttribute('html', 'data-view'),
    clicked: await page.$eval('#chooser select', (select) => select.selectedOptions[0].textContent),
    headline: await page.textContent('.headline h2')
  };
  await page.selectOption('#chooser select', '0');
  await ended();
}

async function table(view) {
  await show(page, view);
  await ended();
  if (await page.isVisible('.rows .empty')) return (seen[view] = null);
  if (await page.isVisible('.rows button[data-value=single]')) {
    await page.click('.rows button[data-value=single]');
    await ended();
  }
  while (await page.isVisible('.rows .more')) await page.click('.rows .more');
  const rows = await rowsOf('.rows .table');
  const head = '.rows th:nth-child(1) button';
  await page.click(head);
  const sorted = (await rowsOf('.rows .table')).map((row) => row.name);
  const word = rows[0].name.slice(0, 6);
  await page.fill('.rows .find', word);
  const filtered = (await rowsOf('.rows .table')).map((row) => row.name);
  await page.fill('.rows .find', '');
  await page.locator('.rows .find').blur();
  seen[view] = {rows, sorted, word, filtered};
}

async function keyboard() {
  const views = [];
  for (let key = 1; key <= 9; ++key) {
    await page.keyboard.press(String(key));
    await ended();
    views.push(await page.getAttribute('html', 'data-view'));
  }
  const theme = () => page.getAttribute('html', 'data-theme');
  const before = await theme();
  await page.keyboard.press('t');
  const after = await theme();
  await page.keyboard.press('?');
  const keys = await page.isVisible('#keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  const focused = await page.evaluate(() => document.activeElement?.getAttribute('type'));
  seen.keyboard = {views, theme_changed: before !== after, keys, focused};
}

seen.failed = await page.isVisible('.failed') ? await page.textContent('.failed') : null;
if (seen.failed === null) {
  await overview();
  await otherDevice();
  await timeline();
  await blocks();
  await flame();
  await segments();
  for (const view of ['modules', 'operators', 'lines', 'parameters']) await table(view);
  await ranks();
  await keyboard();
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await ended();
}
seen.said = said;
seen.requests = requests();
seen.scripts = await page.$$eval('script', (all) => all.filter((one) => !one.type).length);
seen.body =
    await page.$$eval('body > *', (all) => all.filter((one) => one.tagName !== 'SCRIPT').map((one) => one.tagName));
console.log(JSON.stringify(seen));
await browser.close();
