// Bundles editor.js and puts the licences of everything in the bundle on top.
import {readFileSync} from 'node:fs';
import {build} from 'esbuild';

const [outfile] = process.argv.slice(2);
const options = {
  entryPoints: ['editor.js'], bundle: true, minify: true, format: 'esm', target: 'es2022',
  legalComments: 'none', metafile: true, logLevel: 'warning',
};

/** Returns the packages in the bundle, as paths below node_modules. */
function packages(metafile) {
  const found = Object.keys(metafile.inputs).map((f) => f.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return [...new Set(found.filter(Boolean))].sort();
}

/** Returns a header with each licence once, below the packages that it applies to. */
function header(names) {
  const byText = new Map();
  for (const name of names) {
    const {version} = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
    const text = readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim();
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...byText].map(([text, list]) => `${list.join(', ')}\n\n${text}`);
  return `/*!\nBuilt by pkg/internal/run/page/editor/build; do not edit. Contains:\n\n${parts.join('\n\n')}\n*/`.replaceAll('\r', '');
}

const dry = await build({...options, write: false});
await build({...options, outfile, banner: {js: header(packages(dry.metafile))}});
