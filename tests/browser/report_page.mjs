// A report in Chromium or Firefox, with all that it says on the console and asks of the network. playwright-core drives
// the browser of the system; it brings none of its own. Firefox it drives by WebDriver BiDi, the standard that Debian's
// Firefox has.
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '../../tools/web/package.json');
const {chromium, firefox} = createRequire(web)('playwright-core');

export function browserPath() {
  const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return places.find((path) => path && existsSync(path));
}

function launch() {
  if (process.env.FIREFOX) return firefox.launch({channel: 'moz-firefox', executablePath: process.env.FIREFOX});
  return chromium.launch({executablePath: browserPath(), args: ['--no-sandbox', '--disable-gpu']});
}

// In Firefox where the environment's FIREFOX names its program.
export async function openReport(file, {width, height, dark = false, script, hash = ''} = {}) {
  const browser = await launch();
  const context = await browser.newContext({viewport: {width, height}, colorScheme: dark ? 'dark' : 'light'});
  const page = await context.newPage();
  page.setDefaultTimeout(120000);  // the default of 30 s is short on a loaded machine
  const said = [];
  const asked = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`error: ${error.stack}`));
  page.on('request', (request) => asked.push(request.url()));
  if (script) await page.addInitScript(script);
  const url = pathToFileURL(resolve(file)).href;
  const begin = Date.now();
  await page.goto(url + hash);
  await page.waitForFunction(
      () => document.documentElement.dataset.ready === 'yes' || document.querySelector('.failed') !== null);
  const readyMs = Date.now() - begin;
  const requests = () => asked.filter((one) => one !== url && !one.startsWith('data:'));
  return {browser, page, said, requests, readyMs};
}

export async function show(page, view) {
  await page.click(`#views a[data-view=${view}]`);
  await page.waitForSelector(`html[data-view=${view}]`);
  await settle(page);
}

// Until what was asked for is drawn.
export async function settle(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    do {
      await frame();
      await frame();
    } while (Number(document.documentElement.dataset.drawing ?? 0) > 0);
    await frame();
  });
}
