// The page of `argoperator dev`: header, faults, panes and keys. The panes are
// in modules of their own.
import {post} from './api.js';
import {button, byId, copy, count, guarded, h, icon, markTab, setText, splitter, tabKeys, time, toast} from './dom.js';
import {startDetails} from './details.js';
import {newObject, saveShown, showFinding, startDocuments} from './documents.js';
import {startGraph} from './graph.js';
import {connect, on, session} from './store.js';
import {startTests} from './tests.js';
import {startTimeline} from './timeline.js';
import {startTree} from './tree.js';

// Header

function renderState() {
  const {operators, findings, version} = session.state;
  const names = operators.map((o) => o.name).join(', ');
  document.title = `${names || 'No operator'} – argoperator dev`;
  byId('operators').replaceChildren(...operators.slice(0, 3).map((o) => h('span', {class: 'operator'},
    h('strong', {}, o.name), h('span', {class: 'muted'}, ` ${o.kind} · ${o.engine}`))),
  operators.length > 3 ? h('span', {class: 'muted'}, `and ${operators.length - 3} more`) : '');
  byId('kubeconfig').disabled = false;
  byId('top').title = `argoperator ${version}`;
  const errors = findings.filter((f) => f.severity === 'error').length;
  const chip = byId('findings');
  chip.hidden = false;
  chip.disabled = findings.length === 0;
  chip.className = `chip ${errors ? 'bad' : findings.length ? 'warn' : 'quiet'}`;
  setText(chip, findings.length ? count(findings.length, 'finding') : 'No findings');
  renderDefinition();
  renderMessages(errors);
}

/** Says what became of the definition. */
function renderDefinition() {
  const {state, time: at} = session.state.definition;
  const [text, kind] = {
    applied: [`Applied ${time(at)}`, 'quiet'], waiting: ['Waits for a valid definition', 'bad'],
    errors: ['Definition with errors', 'bad'], rejected: ['Definition rejected', 'bad'],
  }[state] ?? ['', 'quiet'];
  const chip = byId('definition');
  chip.className = 'chip ' + kind;
  setText(chip, text);
}

function renderConnection() {
  const {connection, reason} = session;
  const [text, kind] = {
    connecting: ['Connecting', 'warn'], connected: ['Connected', 'ok'], lost: ['Connection lost', 'bad'], refused: ['Not allowed', 'bad'],
  }[connection];
  const chip = byId('connection');
  chip.className = 'chip ' + kind;
  setText(chip, text);
  chip.title = reason;
  if (session.state) renderMessages(session.state.findings.filter((f) => f.severity === 'error').length);
  else renderMessages(0);
}

/** Shows what the reader must know above everything else. */
function renderMessages(errors) {
  const messages = [];
  if (session.connection === 'refused')
    messages.push(['bad', 'The server does not accept the token of this page. Open the address that argoperator dev printed.']);
  if (session.connection === 'lost')
    messages.push(['bad', 'The connection to argoperator dev is lost. The page shows the last known state and connects again.']);
  const {state: became, text: why} = session.state?.definition ?? {};
  const before = session.state?.loaded ? 'The previous definition still runs.' : 'No operator runs.';
  if (became === 'waiting')
    messages.push(['bad', `The definition has ${count(errors, 'error')}. The operator starts when the files are corrected.`]);
  else if (became === 'rejected')
    messages.push(['bad', `${sentence(why)} ${before} `
      + 'Correct the definition, or choose Reset to delete its kind with all custom resources.']);
  else if (errors) messages.push(['bad', `The definition has ${count(errors, 'error')}. ${before}`]);
  if (session.state && !session.state.runLogic)
    messages.push([
      'warn',
      'Programs of the operator do not run: argoperator dev has no consent for them. ' +
        'Answer its question, or start it with --run-logic.',
    ]);
  const box = byId('messages');
  if (box.dataset.shown === JSON.stringify(messages)) return;
  box.dataset.shown = JSON.stringify(messages);
  box.replaceChildren(...messages.map(([kind, text]) => h('p', {class: kind, role: kind === 'bad' ? 'alert' : 'status'}, text)));
}

/** Makes a text a sentence. */
const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1).replace(/[.]?$/, '.') : '');

function renderQueue() {
  setText(byId('pending'), session.pending ? `${count(session.pending, 'event')} waiting` : 'Idle');
  byId('pending').classList.toggle('quiet', session.pending === 0);
}

function copyKubeconfig() {
  return copy(`export KUBECONFIG=${quoted(session.state.kubeconfig)}`, 'the command: export KUBECONFIG=…');
}

/** Quotes a path for a shell. */
const quoted = (path) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

// Theme: that of the system, until somebody chooses the other one

const dark = matchMedia('(prefers-color-scheme: dark)');
const system = () => (dark.matches ? 'dark' : 'light');

function applyTheme() {
  const theme = localStorage.getItem('theme') ?? system();
  document.documentElement.style.colorScheme = theme;
  const other = theme === 'dark' ? 'light' : 'dark';
  byId('theme').replaceChildren(icon(theme === 'dark' ? 'sun' : 'moon'));
  byId('theme').setAttribute('aria-label', `Use the ${other} theme`);
  byId('theme').title = `Use the ${other} theme`;
}

function toggleTheme() {
  const other = (localStorage.getItem('theme') ?? system()) === 'dark' ? 'light' : 'dark';
  if (other === system()) localStorage.removeItem('theme');
  else localStorage.setItem('theme', other);
  applyTheme();
}

// Faults

const switches = [
  ['sensorDown', 'Sensor down', 'Sensor is down', 'Events wait until the Sensor is up again'],
  ['loseEvents', 'Lose events', 'Bus loses events', 'The event bus loses every event'],
  ['refuse', 'Refuse writes', 'Writes are refused', 'The API server answers each write of the operator with status 503'],
  ['conflict', 'Conflicts', 'Writes conflict', 'The API server answers each write of the operator with status 409'],
];

function startFaults() {
  const act = guarded((action, value) => post('action', {action, ...value}));
  const toggle = (name) => act(name, {on: !session.state?.switches[name]});
  byId('faults').append(
    h('span', {class: 'muted', id: 'faults-title'}, 'Faults'),
    ...switches.map(([name, label, , title]) => h('button', {
      type: 'button', class: 'switch', role: 'switch', 'aria-checked': 'false', title,
      'data-switch': name, 'data-test': 'switch-' + name, onclick: () => toggle(name),
    }, h('span', {class: 'knob', 'aria-hidden': 'true'}), h('span', {class: 'label'}, label))),
    h('span', {class: 'space'}),
    button('Resync now', async () => { if (await act('resync', {})) toast('The CronWorkflow runs'); },
      {title: 'Let time pass: the CronWorkflow runs now', 'data-test': 'resync'}),
    button('Reset', async () => {
      if (!confirm('Delete the kinds of the operators with all custom resources, and apply the definition again?')) return;
      if (await act('reset', {})) toast('Everything was deleted, and the definition applied');
    }, {title: 'Delete all custom resources and apply the definition again', 'data-test': 'reset'}),
    button('Save as test', () => { showPane('tests'); byId('recording').open = true; byId('recording').scrollIntoView(); },
      {id: 'record', 'data-test': 'record'}));
}

function renderFaults() {
  const {switches: are, recording} = session.state;
  for (const [name, off, active] of switches) {
    const element = byId('faults').querySelector(`[data-switch=${name}]`);
    element.setAttribute('aria-checked', are[name]);
    setText(element.querySelector('.label'), are[name] ? active : off);
  }
  byId('faults').classList.toggle('on', Object.values(are).some(Boolean));
  setText(byId('record'), recording ? `Save as test (${recording})` : 'Save as test');
}

// Panes

const narrow = matchMedia('(max-width: 1000px)');

function showPane(name) {
  document.body.dataset.view = name;
  if (name !== 'overview') document.body.dataset.side = name;
  sessionStorage.setItem('pane', name);
  renderPanes();
}

function renderPanes() {
  const shown = narrow.matches ? document.body.dataset.view : document.body.dataset.side;
  markTab(byId('views'), byId('tab-' + shown));
}

function startPanes() {
  const views = byId('views');
  tabKeys(views);
  for (const tab of views.children) tab.addEventListener('click', () => showPane(tab.dataset.pane));
  document.addEventListener('show-pane', ({detail}) => showPane(detail));
  document.addEventListener('open-details', () => { showPane('details'); byId('details').focus(); });
  on('choice', () => { if (!narrow.matches) showPane('details'); });
  for (const id of ['tree', 'timeline-list']) // on a narrow screen, arrow keys only move
    byId(id).addEventListener('click', (event) => {
      if (narrow.matches && event.target.closest('.row') && !event.target.closest('.twist')) showPane('details');
    });
  narrow.addEventListener('change', renderPanes);
  splitter(byId('split-objects'), {label: 'Width of the objects',
    property: '--objects', min: 200, max: () => innerWidth * 0.45, initial: 330, sign: 1});
  splitter(byId('split-side'), {label: 'Width of details, editor and tests',
    property: '--side', min: 300, max: () => innerWidth * 0.6, initial: 420, sign: -1});
  const before = sessionStorage.getItem('pane');
  if (before) showPane(before);
  else renderPanes();
}

/** Without a custom resource, the first step is to create one. */
function showFirstStep() {
  const any = [...session.objects.values()].some((o) => o.primary);
  const elsewhere = new URL(location.href).searchParams.has('test') || session.selection || sessionStorage.getItem('pane');
  if (any || elsewhere) return;
  newObject({focus: false});
  if (narrow.matches) showPane('overview');
}

// Keys

const keys = [
  ['?', 'Show the keyboard shortcuts', () => byId('shortcuts').showModal()],
  ['/', 'Filter objects', () => { showPaneIfNarrow('overview'); byId('objects-filter').focus(); }],
  ['n', 'Create a custom resource', () => newObject()],
  ['o', 'Go to the objects', () => { showPaneIfNarrow('overview'); byId('tree').focus(); }],
  ['t', 'Go to the timeline', () => { showPaneIfNarrow('overview'); byId('timeline-list').focus(); }],
  ['d', 'Go to the details', () => { showPane('details'); byId('details').focus(); }],
  ['e', 'Go to the editor', () => { showPane('editor'); byId('editor').querySelector('.editor-host:not([hidden]) .cm-content')?.focus(); }],
  ['s', 'Go to the tests', () => { showPane('tests'); byId('tests').focus(); }],
  ['p', 'Pause or continue the timeline', () => byId('timeline-pause').click()],
];
const otherKeys = [
  ['↑ ↓ Home End', 'Move in objects and timeline'], ['← →', 'Close or open an object'], ['Enter', 'Show details'],
  ['Delete', 'Delete the selected object, or close the tab of the editor'],
  ['Ctrl+S', 'Save the file or apply the YAML'], ['Ctrl+Space', 'Complete in the editor'], ['Esc, then Tab', 'Leave the editor'],
];

function showPaneIfNarrow(name) {
  if (narrow.matches) showPane(name);
}

function startKeys() {
  const row = ([key, text]) => h('tr', {}, h('th', {scope: 'row'}, h('kbd', {}, key)), h('td', {}, text));
  byId('shortcuts').append(
    h('h2', {id: 'shortcuts-title'}, 'Keyboard shortcuts'),
    h('table', {class: 'plain'}, h('tbody', {}, [...keys, ...otherKeys].map(row))),
    h('form', {method: 'dialog'}, h('button', {class: 'button primary', 'data-test': 'close-shortcuts',
      onclick: (e) => { e.preventDefault(); byId('shortcuts').close(); }}, 'Close')));
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's' && !event.defaultPrevented) {
      event.preventDefault(); // not the dialog of the browser
      return byId('editor').contains(document.activeElement) ? saveShown() : undefined;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, [contenteditable=true], dialog'))
      return undefined;
    const action = keys.find(([key]) => key === event.key)?.[2];
    if (!action) return undefined;
    event.preventDefault();
    return action();
  });
}

function start() {
  applyTheme();
  dark.addEventListener('change', applyTheme);
  byId('theme').addEventListener('click', toggleTheme);
  byId('help').addEventListener('click', () => byId('shortcuts').showModal());
  byId('kubeconfig').addEventListener('click', guarded(copyKubeconfig));
  byId('findings').addEventListener('click', () => showFinding(session.state.findings[0]));
  startFaults();
  startPanes();
  startKeys();
  startGraph();
  startTree();
  startTimeline();
  startDetails();
  startDocuments();
  startTests();
  on('state', () => { renderState(); renderFaults(); });
  document.addEventListener('samples', showFirstStep, {once: true});
  on('connection', renderConnection);
  on('queue', renderQueue);
  renderQueue();
  connect();
}

start();
