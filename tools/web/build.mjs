// Bundles the page of `memoir report` into one HTML file with a policy that allows its own script and style alone.
//
//     node build.mjs OUTPUT.html
import {build} from 'esbuild';
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) throw new Error('usage: node build.mjs OUTPUT.html');

const result = await build({
  entryPoints: [join(here, 'src/main.ts')],
  bundle: true,
  minify: true,
  charset: 'utf8',
  target: ['chrome103', 'firefox113', 'safari16.4'],
  format: 'iife',
  legalComments: 'none',
  write: false,
  outdir: '/nowhere',
});
const text = (suffix) => result.outputFiles.find((file) => file.path.endsWith(suffix)).text.trim();
const script = text('.js');
const style = text('.css');
if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its own element');
const hash = (content) => `'sha256-${createHash('sha256').update(content, 'utf8').digest('base64')}'`;
const policy =
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
                 .replace('@policy@', () => policy)
                 .replace('@style@', () => style)
                 .replace('@script@', () => script);
writeFileSync(output, page);
