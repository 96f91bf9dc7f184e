// Prints the findings of ruff and Biome, and lines of JavaScript that are too long. Exits with 1 if there are any.
import {execFileSync, spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {PositionEncoding, Workspace} from '@astral-sh/ruff-wasm-nodejs';

const longest = 140;
process.chdir('../..');

/** Returns the files of a language that people of this project write. */
function files(...patterns) {
  const written = (file) => !file.includes('testdata/') && !file.startsWith('examples/memcached-tutorial/') // a copy
    && file !== 'pkg/internal/run/page/assets/editor.js'; // a bundle
  return execFileSync('git', ['ls-files', '--', ...patterns], {encoding: 'utf8'}).split('\n').filter((file) => file && written(file));
}

/** Returns the findings of ruff. */
function* python() {
  const ruff = new Workspace({
    'line-length': longest,
    'target-version': 'py39',
    lint: {
      select: ['B', 'C4', 'E', 'F', 'PIE', 'PLE', 'RET', 'SIM', 'UP', 'W'],
      ignore: ['RET502', 'RET503', 'SIM105', 'UP031'], // what reads better is the author's choice
    },
  }, PositionEncoding.Utf32);
  for (const file of files('*.py')) {
    for (const {code, message, start_location: at} of ruff.check(readFileSync(file, 'utf8'))) {
      yield `${file}:${at.row}:${at.column}: ${code ?? 'syntax'} ${message}`;
    }
  }
}

/** Returns the lines that are too long. Biome has no rule for them. */
function* longLines(scripts) {
  for (const file of scripts) {
    for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
      if (line.length > longest) yield `${file}:${at + 1}:${longest + 1}: line too long (${line.length} > ${longest})`;
    }
  }
}

const scripts = files('*.js', '*.mjs', '*.mts');
const findings = [...python(), ...longLines(scripts)];
if (findings.length > 0) console.log(findings.join('\n'));
const biome = spawnSync('.ci/linters/node_modules/.bin/biome',
  ['lint', '--config-path=.ci/linters/javascript.json', '--diagnostic-level=warn', '--error-on-warnings', ...scripts], {encoding: 'utf8'});
if (biome.status !== 0) console.log(biome.stdout + biome.stderr);
process.exitCode = findings.length > 0 || biome.status !== 0 ? 1 : 0;
