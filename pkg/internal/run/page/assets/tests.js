// Tests of the operator: list, run, results by step, and recording a new one.
import {call, get, post} from './api.js';
import {button, byId, count, duration, guarded, h, icon, setText, toast} from './dom.js';
import {recordView} from './details.js';
import {findingView, showFinding} from './documents.js';
import {on, session} from './store.js';
import {groupsOf, RecordList} from './timeline.js';

let tests = [];
/** @type {Map<string, object>} name → result */ const results = new Map();
let running = '';

const load = guarded(async () => {
  tests = await get('tests');
  render();
});

const run = guarded(async (name) => {
  running = name || 'all';
  render();
  try {
    for (const result of await post('tests/run', {name})) results.set(result.name, result);
  } finally {
    running = '';
    render();
  }
});

function render() {
  const all = byId('tests-all');
  all.disabled = running !== '' || tests.length === 0;
  setText(all, running === 'all' ? 'Running' : 'Run all');
  const outcome = [...results.values()].filter((r) => tests.some((t) => t.name === r.name));
  const failed = outcome.filter((r) => r.state === 'failed').length;
  setText(byId('tests-summary'), outcome.length ? `${outcome.length - failed} passed, ${failed} failed` : count(tests.length, 'test'));
  const list = byId('tests-list');
  const open = new Set([...list.querySelectorAll('.test')].filter((t) => t.firstChild.open).map((t) => t.dataset.name));
  list.replaceChildren(...tests.map((t) => testView(t, open)));
  if (tests.length === 0)
    list.append(h('div', {class: 'empty'}, h('p', {}, 'No tests yet. Use the operator, then save what you did as a test.')));
}

function testView({name, file, line}, open) {
  const result = results.get(name);
  const busy = running === name || running === 'all';
  const state = busy ? 'running' : result?.state ?? '';
  const failed = result?.state === 'failed';
  const details = h('details', {open: open.has(name) || (failed && !busy)},
    h('summary', {}, stateIcon(state), h('span', {class: 'name'}, name),
      h('span', {class: 'muted'}, `${file.split('/').pop()}:${line}`), h('span', {class: 'muted'}, duration(result?.duration))),
    result ? h('ol', {class: 'steps'}, result.steps.map(stepView)) : h('p', {class: 'muted'}, 'Not run yet.'));
  return h('div', {class: 'test', 'data-name': name, 'data-state': state, 'data-test': 'test'}, details,
    button('Run', () => run(name), {disabled: running !== '', 'aria-label': `Run ${name}`, 'data-test': 'run-test'}));
}

function stateIcon(state) {
  const names = {passed: 'done', failed: 'failed', skipped: 'skipped', running: 'running'};
  return h('span', {class: 'mark state-' + (names[state] ?? 'none'), role: 'img', 'aria-label': state || 'not run'},
    names[state] ? icon(names[state]) : null);
}

function stepView(step) {
  const records = step.records ?? [];
  const failed = step.state === 'failed';
  const title = [stateIcon(step.state), h('span', {class: 'name'}, step.name),
    records.length ? h('span', {class: 'muted'}, count(records.length, 'record')) : null];
  if (!records.length && !step.findings?.length) return h('li', {'data-state': step.state}, h('div', {class: 'step'}, ...title));
  const details = h('details', {class: 'step', open: failed, 'data-test': 'step'}, h('summary', {}, ...title));
  const fill = () => { if (details.childElementCount === 1) details.append(stepBody(step)); };
  details.addEventListener('toggle', fill, {once: true});
  if (failed) fill();
  return h('li', {'data-state': step.state}, details);
}

/** Returns the findings of a step and what happened in it. */
function stepBody({findings = [], records = []}) {
  const scroller = h('div', {class: 'list'});
  const chosen = h('div', {class: 'record'});
  const byID = new Map(records.map((r) => [r.id, r]));
  const list = new RecordList(scroller, 'Timeline of the step', (id) =>
    chosen.replaceChildren(...recordView(byID.get(id), false).filter(Boolean)));
  const rows = list.show(groupsOf(records));
  scroller.style.height = Math.min(rows, 9) * 26 + 2 + 'px';
  return h('div', {class: 'step-body'}, findings.map((f) => findingView(f, () => showFinding(f))), rows ? scroller : null, chosen);
}

// Recording

async function renderRecording() {
  const box = byId('recording');
  const steps = session.state?.recording ?? 0;
  if (box.dataset.steps === String(steps)) return;
  box.dataset.steps = steps;
  const summary = byId('recording-title');
  setText(summary, steps ? `Save what you did as a test (${count(steps, 'step')})` : 'Save what you did as a test');
  if (!steps)
    return byId('recording-body').replaceChildren(
      h('p', {class: 'muted'}, 'The page records what you do. Create a custom resource first.'));
  const {steps: list, yaml, ended} = await get('recording');
  if (box.dataset.steps !== String(steps)) return; // there are other steps by now
  const form = byId('recording-form') ?? recordingForm(); // the same one, in which somebody may be typing
  const found = [
    ended ? h('p', {class: 'message', 'data-test': 'recording-ended'}, `Nothing more is recorded: ${ended}.`) : null,
    h('ol', {class: 'recorded'}, list.map((s) => h('li', {}, s.name, h('span', {class: 'muted'}, ' ' + s.action)))),
    h('pre', {class: 'code', tabindex: 0, 'aria-label': 'YAML of the test', 'data-test': 'recording-yaml'}, yaml),
  ].filter(Boolean);
  if (!form.isConnected) return byId('recording-body').replaceChildren(...found, form);
  while (form.previousSibling) form.previousSibling.remove();
  form.before(...found);
}

function recordingForm() {
  const name = h('input', {id: 'recording-name', placeholder: 'my-test', required: true,
    pattern: '[a-z0-9]([a-z0-9\\-]*[a-z0-9])?', autocomplete: 'off', spellcheck: 'false', 'data-test': 'recording-name'});
  return h('form', {id: 'recording-form', class: 'actions', onsubmit: (event) => { event.preventDefault(); saveRecording(name.value); }},
    h('label', {}, 'Name ', name),
    h('button', {type: 'submit', class: 'button primary', 'data-test': 'recording-save'}, 'Save and run'),
    button('Start over', guarded(() => call('DELETE', 'recording')), {'data-test': 'recording-clear'}));
}

const saveRecording = guarded(async (name) => {
  const {file, findings, state} = await post('recording', {name});
  toast(`Saved ${file}. The test ${state}.`, state === 'passed' ? 'ok' : 'bad');
  byId('recording-body').querySelectorAll('.finding').forEach((f) => f.remove());
  byId('recording-body').append(...findings.map((f) => findingView(f, () => showFinding(f))));
  await load();
  await run(name); // the list shows it, opened at the step that fails
  byId('tests-list').querySelector(`[data-name="${name}"]`)?.scrollIntoView();
});

export function startTests() {
  byId('tests').append(
    h('div', {class: 'bar'}, h('h2', {}, 'Tests'),
      h('span', {id: 'tests-summary', class: 'muted', role: 'status', 'data-test': 'tests-summary'}), h('span', {class: 'space'}),
      button('Run all', () => run(''), {id: 'tests-all', class: 'button small primary', 'data-test': 'run-all'})),
    h('div', {id: 'tests-list', 'data-test': 'tests-list'}),
    h('details', {id: 'recording', class: 'section', open: true, 'data-test': 'recording'},
      h('summary', {id: 'recording-title'}), h('div', {id: 'recording-body', class: 'section-body'})));
  on('state', guarded(renderRecording));
  let loaded = -1;
  on('state', async () => {
    const {time: at} = session.state.definition;
    if (at === loaded) return;
    const first = loaded === -1;
    loaded = at;
    await load();
    const wanted = new URL(location.href).searchParams.get('test');
    if (first && wanted !== null) openTest(wanted);
  });
}

/** Opens the pane, runs a test and shows its result. */
async function openTest(name) {
  document.dispatchEvent(new CustomEvent('show-pane', {detail: 'tests'}));
  await run(name);
  const element = [...document.querySelectorAll('#tests-list .test')].find((d) => d.dataset.name === name);
  if (!element) return;
  element.firstChild.open = true;
  element.scrollIntoView({block: 'start'});
}
