// The editor: files of the definition, new custom resources and the YAML of objects.
import {createEditor, templateAt} from './editor.js';
import {get, post} from './api.js';
import {button, byId, count, guarded, h, icon, markTab, reference, tabKeys, toast} from './dom.js';
import {rebase, versionLine} from './rebase.js';
import {changed, on, session} from './store.js';

/**
 * @typedef {object} Doc
 * @property {string} id
 * @property {'file'|'new'|'object'} kind
 * @property {string} title
 * @property {string} base text as loaded; the text differs from it while it has unsaved changes
 * @property {string} text
 * @property {object} [object] what the YAML is of
 * @property {boolean} [readOnly]
 * @property {object[]} findings
 * @property {boolean} [missing] the object does not exist any more
 * @property {string|null} newer text of the server that is newer than base
 * @property {HTMLElement} host
 * @property {ReturnType<typeof createEditor>} [editor]
 */

/** @type {Map<string, Doc>} */
const docs = new Map();
let shown = sessionStorage.getItem('document') ?? '';
let samples = [];
const drafts = JSON.parse(sessionStorage.getItem('drafts') ?? '{}');
const schemas = new Map();

const isDirty = (doc) => doc.text !== doc.base;
const verb = (doc) => (doc.kind === 'file' ? 'Save' : 'Apply');

/** Reports whether a finding is of the file; one of the names can be relative. */
function isIn({file}, {title}) {
  return !file || file === title || file.endsWith('/' + title) || title.endsWith('/' + file);
}

/** Adds a document. A draft of before a reload of the page replaces its text. */
function add(doc) {
  const draft = drafts[doc.id];
  const full = {findings: [], newer: null, text: doc.base, host: h('div', {class: 'editor-host'}), ...doc};
  const isNewer = draft && doc.kind !== 'new' && draft.base !== doc.base; // of a new object there is only the draft
  if (draft) Object.assign(full, {text: draft.text, base: draft.base, newer: isNewer ? doc.base : null});
  docs.set(doc.id, full);
  return full;
}

function keepDraft(doc) {
  if (isDirty(doc)) drafts[doc.id] = {text: doc.text, base: doc.base, object: doc.object};
  else delete drafts[doc.id];
  sessionStorage.setItem('drafts', JSON.stringify(drafts));
}

/**
 * Returns the schema at an offset: of the definition, of the kind of the template
 * around the offset, or of the kind that the YAML names.
 */
async function schemaOf(doc, text, offset) {
  if (doc.kind !== 'file') {
    const apiVersion = text.match(/^apiVersion:\s*["']?([\w./-]+)/m)?.[1] ?? '';
    const kind = text.match(/^kind:\s*["']?(\w+)/m)?.[1];
    return kind ? schemaAnswer({apiVersion, kind}, 0) : null;
  }
  const template = templateAt(text, offset);
  if (!template) return schemaAnswer({of: 'definition'}, 0);
  const {apiVersion, kind, depth} = template;
  return schemaAnswer({apiVersion, kind}, depth);
}

/** Returns the schema that the server has for a query, and the depth of its object in the YAML. */
async function schemaAnswer(query, skip) {
  const key = new URLSearchParams(query).toString();
  if (!schemas.has(key)) schemas.set(key, get('schema', query).catch(() => { schemas.delete(key); return null; }));
  const schema = await schemas.get(key);
  return schema && {schema, skip};
}

/** Asks the server for the findings of a text that nobody saved yet. */
async function check(doc, text) {
  if (!text.trim()) return [];
  const answer = doc.kind === 'file'
    ? await post('check', {name: doc.title, content: text}).catch(() => null)
    : await post('apply', {yaml: text, dryRun: true}).catch(() => null);
  if (!answer) return doc.findings;
  // A conflict while typing is no finding: the banner says that the object changed.
  doc.findings = answer.findings.filter((f) => doc.kind === 'file' ? isIn(f, doc) : f.code !== 'conflict');
  if (doc.id === shown) renderFindings(doc);
  return doc.findings;
}

function open(doc) {
  if (doc.editor) return;
  doc.editor = createEditor(doc.host, {
    doc: doc.text, label: `YAML of ${doc.title}`, readOnly: doc.readOnly,
    onChange: (text) => {
      doc.text = text;
      keepDraft(doc);
      renderTabs();
      if (doc.id === shown) renderActions(doc);
    },
    onSave: () => save(doc),
    check: (text) => check(doc, text),
    schema: (text, offset) => schemaOf(doc, text, offset),
  });
}

/** Takes the text of the server, as there are no changes of ours or we drop them. */
function take(doc, text) {
  Object.assign(doc, {base: text, newer: null});
  if (doc.editor && doc.editor.text() !== text) doc.editor.setText(text);
  doc.text = text;
  keepDraft(doc);
}

/** Keeps unsaved changes when the server has a newer text. */
function offer(doc, text) {
  const merged = doc.kind === 'object' && isDirty(doc) ? rebase(doc.text, doc.base, text) : null;
  if (text === doc.base) doc.newer = null;
  else if (merged) {
    Object.assign(doc, {base: text, text: merged, newer: null});
    doc.editor?.setText(merged);
    keepDraft(doc);
  } else if (isDirty(doc) && text !== doc.text) doc.newer = text;
  else take(doc, text);
  if (doc.id === shown) render();
}

const save = guarded(async (doc) => {
  if (doc.readOnly) return;
  await (doc.kind === 'file' ? saveFile(doc) : applyYAML(doc));
  render();
});

async function saveFile(doc) {
  const {text} = doc;
  try {
    const answer = await post('save', {name: doc.title, content: text, was: doc.base});
    doc.findings = answer.findings.filter((f) => isIn(f, doc));
    Object.assign(doc, {base: text, newer: null});
    keepDraft(doc);
    doc.editor.show(doc.findings);
    const errors = answer.findings.filter((f) => f.severity === 'error').length;
    toast(errors ? `Saved with ${count(errors, 'error')}. The previous definition still runs.` : `Saved ${doc.title}`,
      errors ? 'warn' : 'ok', doc.id);
  } catch (error) {
    if (error.status !== 409) throw error;
    await loadFiles();
    toast(`${doc.title} changed on disk. Choose which text to keep.`, 'bad', doc.id);
  }
}

async function applyYAML(doc) {
  const {text} = doc;
  // A new object has neither; those of its owners are further indented.
  const yaml = doc.missing ? text.replace(/^ {2}(resourceVersion|uid):.*\n/gm, '') : text;
  const {findings, objects} = await post('apply', {yaml, dryRun: false});
  doc.findings = findings;
  doc.editor.show(findings);
  const conflict = findings.some((f) => f.code === 'conflict');
  if (conflict && doc.kind === 'object') return refreshObject(doc, true);
  if (findings.some((f) => f.severity === 'error'))
    return toast(`The API server did not accept the YAML: ${findings[0].message}`, 'bad', doc.id);
  doc.base = text;
  keepDraft(doc);
  toast(objects.map((o) => `${o.kind} ${o.name} ${o.action}`).join(', ') || 'Nothing to apply', 'ok', doc.id);
  if (doc.kind === 'object' && !doc.missing) await refreshObject(doc);
  return undefined;
}

/** Loads the object again; its resourceVersion changes with every write of the operator. */
async function refreshObject(doc, conflict = false) {
  const {yaml} = await get('object', doc.object);
  offer(doc, yaml);
  if (conflict) toast(`${reference(doc.object)} changed meanwhile. Choose which text to keep.`, 'bad', doc.id);
}

/** Makes the newer text the base of our changes, which the next save then writes over it. */
const overwrite = guarded(async (doc) => {
  // The operator may have written again since we saw the newer text.
  const newer = doc.kind === 'object' ? (await get('object', doc.object)).yaml : doc.newer;
  const version = newer.match(versionLine)?.[2] ?? '';
  const text = doc.kind === 'object' ? doc.text.replace(versionLine, (_, key) => key + version) : doc.text;
  Object.assign(doc, {base: newer, newer: null});
  doc.editor.setText(text);
  await save(doc);
});

const loadFiles = guarded(async () => {
  for (const {name, content, editable} of await get('files')) {
    const doc = docs.get('file ' + name);
    if (doc) offer(doc, content);
    else add({id: 'file ' + name, kind: 'file', title: name, base: content, readOnly: !editable});
  }
  // The new object opens when its samples are there.
  if (!docs.get(shown)?.editor && shown !== 'new') showDoc(docs.has(shown) ? shown : [...docs.keys()][0]);
  renderTabs();
});

const loadSamples = guarded(async () => {
  samples = await get('samples').catch((error) => { toast(error.message, 'bad'); return []; });
  const text = samples[0]?.yaml ?? '';
  const doc = docs.get('new') ?? add({id: 'new', kind: 'new', title: 'New custom resource', base: text});
  if (!isDirty(doc) && !doc.base) take(doc, text);
  if (shown === 'new') showDoc('new');
  else renderTabs();
  document.dispatchEvent(new CustomEvent('samples'));
});

/** Returns a text for an object. An object that comes back has another uid, and is the same to the reader. */
const identity = ({apiVersion, kind, namespace, name}) => [apiVersion, kind, namespace ?? '', name].join(' ');

/** Opens the YAML of an object in a tab of its own. */
export const editObject = guarded(async ({apiVersion, kind, namespace, name}) => {
  const object = {apiVersion, kind, namespace: namespace ?? '', name};
  const id = 'object ' + identity(object);
  const {yaml} = await get('object', object);
  if (docs.has(id)) offer(docs.get(id), yaml);
  else add({id, kind: 'object', title: `${kind} ${name}`, base: yaml, object});
  document.dispatchEvent(new CustomEvent('show-pane', {detail: 'editor'}));
  showDoc(id);
  docs.get(id).editor.focus();
});

function closeDoc(doc) {
  if (isDirty(doc) && !confirm(`Discard the changes of ${doc.title}?`)) return;
  doc.editor?.destroy();
  doc.host.remove();
  docs.delete(doc.id);
  delete drafts[doc.id];
  sessionStorage.setItem('drafts', JSON.stringify(drafts));
  if (shown === doc.id) showDoc([...docs.keys()].at(-1));
  else renderTabs();
}

export function showDoc(id) {
  const doc = docs.get(id);
  if (!doc) return;
  shown = id;
  sessionStorage.setItem('document', id);
  if (!doc.host.isConnected) byId('editor-hosts').append(doc.host);
  open(doc);
  for (const d of docs.values()) d.host.hidden = d !== doc;
  render();
}

export function newObject({focus = true} = {}) {
  document.dispatchEvent(new CustomEvent('show-pane', {detail: 'editor'}));
  if (docs.has('new')) showDoc('new');
  else shown = 'new'; // the samples are not loaded yet
  if (focus) docs.get('new')?.editor.focus();
}

/** Opens the file of a finding at its line. */
export function showFinding({file, line, column}) {
  const doc = [...docs.values()].find((d) => d.kind === 'file' && isIn({file}, d));
  if (!doc) return toast(`Open ${file}:${line} in your own editor. It is not part of the definition.`);
  document.dispatchEvent(new CustomEvent('show-pane', {detail: 'editor'}));
  showDoc(doc.id);
  if (line) doc.editor.goTo(line, column);
  return undefined;
}

export function saveShown() {
  const doc = docs.get(shown);
  if (doc?.editor) save(doc);
}

// What surrounds the editor

function render() {
  const doc = docs.get(shown);
  if (!doc) return;
  renderTabs();
  renderBanner(doc);
  renderActions(doc);
  renderFindings(doc);
}

/** Returns the name of a file, with its directory if there are several of that name. */
function fileName(title) {
  const parts = title.split('/');
  const twins = [...docs.values()].filter((d) => d.kind === 'file' && d.title.split('/').pop() === parts.at(-1));
  return parts.slice(twins.length > 1 ? -2 : -1).join('/');
}

function renderTabs() {
  const list = byId('editor-tabs');
  const focused = list.contains(document.activeElement);
  const tabs = [...docs.values()].map((doc) => {
    const name = {file: fileName(doc.title), new: 'New', object: doc.title}[doc.kind];
    const dirty = isDirty(doc) && doc.kind !== 'new';
    const tab = h('button', {
      role: 'tab', type: 'button', id: 'doc-' + doc.id.replace(/\W/g, '-'), 'aria-controls': 'editor-hosts', title: doc.title,
      'data-test': 'doc-' + doc.kind, 'aria-label': (doc.kind === 'file' ? name : doc.title) + (dirty ? ', unsaved changes' : ''),
      onclick: () => showDoc(doc.id),
      onkeydown: (event) => { if (event.key === 'Delete' && doc.kind === 'object') closeDoc(doc); },
    }, name, dirty ? h('span', {class: 'unsaved', 'aria-hidden': 'true'}) : null);
    const close = doc.kind === 'object' ? h('button', {
      type: 'button', class: 'close', tabindex: -1, 'aria-hidden': 'true', title: 'Close (Delete)', onclick: () => closeDoc(doc),
    }, icon('close')) : null;
    return h('span', {class: 'doc-tab', role: 'presentation', 'data-id': doc.id}, tab, close);
  });
  list.replaceChildren(...tabs);
  const chosen = tabs.find((t) => t.dataset.id === shown)?.firstChild;
  markTab(list, chosen);
  if (focused) chosen?.focus();
  chosen?.parentElement.scrollIntoView({block: 'nearest', inline: 'nearest'});
}

function renderBanner(doc) {
  const banner = byId('editor-banner');
  banner.hidden = doc.newer === null && !doc.missing;
  if (banner.hidden) return banner.replaceChildren();
  if (doc.missing) return banner.replaceChildren(h('span', {}, 'The object does not exist any more. Apply creates it again.'));
  const text = doc.kind === 'file'
    ? 'The file changed on disk, and you have unsaved changes.'
    : 'The object changed, and you have unsaved changes.';
  return banner.replaceChildren(h('span', {}, text),
    button('Load the newer text', () => { take(doc, doc.newer); render(); }, {'data-test': 'take-newer'}),
    button('Overwrite with mine', () => overwrite(doc), {'data-test': 'overwrite'}));
}

function renderActions(doc) {
  const actions = byId('editor-actions');
  const dirty = isDirty(doc);
  const state = doc.readOnly ? 'Read-only'
    : doc.kind === 'new' ? '' : dirty ? 'Unsaved changes' : doc.kind === 'file' ? 'Saved' : 'No changes';
  const key = `${doc.id} ${state} ${samples.length} ${doc.readOnly}`;
  if (actions.dataset.key === key) return; // typing must not replace the button that has the focus
  actions.dataset.key = key;
  const focused = actions.contains(document.activeElement) ? document.activeElement.dataset.test : '';
  actions.replaceChildren(...[
    doc.kind === 'new' ? samplePicker(doc) : h('span', {class: 'muted grow', 'data-test': 'doc-state'}, state),
    dirty && doc.kind !== 'new' ? button('Revert', () => { take(doc, doc.newer ?? doc.base); render(); }, {'data-test': 'revert'}) : null,
    doc.kind === 'object' ? button('Delete', () => document.dispatchEvent(new CustomEvent('delete-object', {detail: doc.object})), {
      class: 'button small danger', 'data-test': 'editor-delete',
    }) : null,
    doc.readOnly ? null : button(verb(doc), () => save(doc), {
      class: 'button primary', title: `${verb(doc)} (Ctrl+S)`, 'data-test': doc.kind === 'file' ? 'save' : 'apply',
    }),
  ].filter(Boolean));
  if (focused) actions.querySelector(`[data-test="${focused}"]`)?.focus();
}

function samplePicker(doc) {
  const many = new Set(samples.map((s) => s.operator)).size > 1;
  const options = samples.map((s, i) => h('option', {value: String(i)}, (many ? s.operator + ': ' : '') + s.name.split('/').pop()));
  const select = h('select', {
    'data-test': 'samples', id: 'samples',
    onchange: () => take(doc, samples[Number(select.value)].yaml),
  }, options);
  return h('label', {class: 'grow'}, 'Sample ', select);
}

function renderFindings(doc) {
  const box = byId('editor-findings');
  box.hidden = doc.findings.length === 0;
  box.replaceChildren(...doc.findings.map((f) => findingView(f, () => doc.editor.goTo(f.line, f.column))));
}

/** Returns a finding as a button that shows its place. */
export function findingView(finding, go) {
  const {file, line, column, severity, code, message, hint} = finding;
  const place = [file?.split('/').pop(), line || '', line && column ? column : ''].filter(Boolean).join(':');
  return h('button', {type: 'button', class: `finding ${severity}`, onclick: go, 'data-test': 'finding'},
    h('span', {class: 'badge ' + (severity === 'error' ? 'bad' : 'warn')}, severity),
    h('span', {class: 'text'}, message, hint ? h('span', {class: 'muted'}, ' ' + hint) : null,
      h('span', {class: 'muted place'}, [place, code].filter(Boolean).join(' · '))));
}

let loaded = '';

function stateChanged() {
  const {loaded: n, findings, files} = session.state;
  const key = JSON.stringify([n, findings, files]);
  if (key === loaded) return;
  loaded = key;
  schemas.clear();
  loadFiles().then(loadSamples);
}

/** Follows objects whose YAML is open. */
function objectsChanged() {
  const open = [...docs.values()].filter((d) => d.object);
  if (open.length === 0) return;
  const existing = new Map([...session.objects.values()].map((o) => [identity(o), o]));
  for (const doc of open) {
    const object = existing.get(identity(doc.object));
    const missing = !object;
    if (missing !== Boolean(doc.missing)) {
      doc.missing = missing;
      if (doc.id === shown) render();
    }
    if (missing || object === doc.seen) continue;
    doc.seen = object;
    clearTimeout(doc.timer);
    doc.timer = setTimeout(() => refreshObject(doc).catch(() => undefined), 300);
  }
}

export function startDocuments() {
  byId('editor').append(
    h('div', {id: 'editor-tabs', role: 'tablist', 'aria-label': 'Documents', 'data-test': 'editor-tabs'}),
    h('div', {id: 'editor-banner', class: 'banner', role: 'alert', hidden: true, 'data-test': 'editor-banner'}),
    h('div', {id: 'editor-hosts', role: 'tabpanel', 'data-test': 'editor-hosts'}),
    h('div', {id: 'editor-findings', role: 'region', 'aria-label': 'Findings', hidden: true, 'data-test': 'editor-findings'}),
    h('div', {id: 'editor-actions', 'data-test': 'editor-actions'}));
  tabKeys(byId('editor-tabs'));
  on('state', stateChanged);
  on('objects', objectsChanged);
  on('connection', () => { if (session.connection === 'connected') loaded = ''; });
  for (const [id, draft] of Object.entries(drafts)) {
    if (draft.object) add({id, kind: 'object', title: `${draft.object.kind} ${draft.object.name}`, base: draft.base, object: draft.object});
  }
  document.addEventListener('edit-object', ({detail}) => editObject(detail));
  document.addEventListener('new-object', () => newObject());
  window.addEventListener('beforeunload', (event) => {
    if ([...docs.values()].some((d) => d.kind !== 'new' && isDirty(d))) event.preventDefault();
  });
  changed('objects');
}
