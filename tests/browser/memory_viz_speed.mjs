// The same as speed.mjs of a page that torch.cuda._memory_viz wrote:
//
//     node tests/browser/memory_viz_speed.mjs PAGE.html MemoryViz.js D3_PACKAGES SECONDS
//
// Its script comes from PyTorch's repository and that one's libraries from a CDN; here from files: D3_PACKAGES is a
// folder with node_modules of what it names.
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {rendererMebibytes, zoomFrames} from './frames.mjs';
import {browserPath} from './report_page.mjs';

const [file, script, packages, seconds] = process.argv.slice(2);
const require = createRequire(join(dirname(fileURLToPath(import.meta.url)), '../../tools/web/package.json'));
const names = ['d3', 'd3-axis', 'd3-scale', 'd3-zoom', 'd3-brush'];
for (const name of names) writeFileSync(join(packages, `${name}.js`), `export * from '${name}';\n`);
const {outputFiles} = await require('esbuild').build({
  entryPoints: names.map((name) => join(packages, `${name}.js`)),
  bundle: true,
  splitting: true,  // they share d3-selection, whose `event` one of them sets and another reads
  format: 'esm',
  write: false,
  outdir: '/nowhere',
});
const bundled = new Map(outputFiles.map((one) => [one.path.split('/').pop(), one.text]));

const browser = await require('playwright-core')
                    .chromium.launch({executablePath: browserPath(), args: ['--no-sandbox', '--disable-gpu']});
const page = await (await browser.newContext({viewport: {width: 1360, height: 860}})).newPage();
const answer = (route, body) =>
    route.fulfill({body, headers: {'content-type': 'text/javascript', 'access-control-allow-origin': '*'}});
await page.route('https://cdn.jsdelivr.net/**/MemoryViz.js', (route) => answer(route, readFileSync(script, 'utf8')));
await page.route('https://cdn.skypack.dev/**', (route) => {
  const name = new URL(route.request().url()).pathname.slice(1).replace(/@.*/, '');
  return answer(route, bundled.get(name.endsWith('.js') ? name : `${name}.js`));
});
const said = [];
page.on('pageerror', (error) => said.push(String(error)));
page.on('crash', () => said.push('the page crashed'));
let seen = {};
try {
  const timeout = Number(seconds) * 1000;
  await page.goto(pathToFileURL(resolve(file)).href, {timeout});
  await page.waitForSelector('svg polygon', {state: 'attached', timeout});
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const shown = await page.evaluate(() => Math.round(performance.now()));
  seen = {
    shown_ms: shown,
    ...(await zoomFrames(page, 'svg')),
    polygons: await page.locator('svg polygon').count(),
    renderer_mib: await rendererMebibytes(browser)
  };
} catch (error) {
  seen = {failed: `${said.join('; ')} ${String(error).split('\n')[0]}`};
}
console.log(JSON.stringify({...seen, said}));
await browser.close();
