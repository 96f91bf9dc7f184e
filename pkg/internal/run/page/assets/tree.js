// The custom resources with their children below.
import {button, byId, count, debounced, h, icon, reference, setText} from './dom.js';
import {List} from './list.js';
import {changed, on, select, selectedUID, session} from './store.js';

const closed = new Set(); // uids of owners whose children are hidden
let list;
/** Owners can refer to each other in a circle. */
const deepest = 12;
let roots = []; // uids, sorted
let children = new Map(); // uid → uids, sorted
let spaces = 0; // namespaces of the roots
let sorted = -1; // the structure that both are of
let words = [];
let onlyNotReady = false;

/** Sorts custom resources first, then by kind, namespace and name. */
function sortTree() {
  const byOwner = new Map();
  const found = [];
  for (const o of session.objects.values()) {
    const owners = o.owners.filter((u) => session.objects.has(u));
    if (owners.length === 0) found.push(o);
    for (const u of owners) {
      if (!byOwner.has(u)) byOwner.set(u, []);
      byOwner.get(u).push(o);
    }
  }
  roots = sort(found);
  spaces = new Set(found.map((o) => o.namespace).filter(Boolean)).size;
  children = new Map([...byOwner].map(([uid, objects]) => [uid, sort(objects)]));
  sorted = session.structure;
}

/** Returns the uids of the objects in their order. */
function sort(objects) {
  const keys = objects.map((o) => [`${o.primary ? 0 : 1}\n${o.kind}\n${o.namespace}\n${o.name}`, o.uid]);
  return keys.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, uid]) => uid);
}

const isNotReady = (o) => o.ready === 'False' || o.ready === 'Unknown';
/** The status does not tell of the last change of the spec yet. */
const isStale = (o) => o.observed > 0 && o.observed < o.generation;
const isProgressing = (o) => o.ready === 'False' && readyCondition(o)?.reason === 'Progressing';
const readyCondition = (o) => o.conditions?.find((c) => c.type === 'Ready');

/** Returns the words on the right of a row: why it is not ready, or its summary. */
function remark(o) {
  if (o.deleting) return 'deleting';
  if (isStale(o)) return `generation ${o.generation}, status of ${o.observed}`;
  const reason = readyCondition(o)?.reason;
  return isNotReady(o) && reason ? reason : o.summary || (o.ready === 'True' ? 'Ready' : '');
}

function matches(o) {
  if (onlyNotReady && !isNotReady(o)) return false;
  if (words.length === 0) return true;
  const text = `${o.kind} ${o.namespace}/${o.name} ${remark(o)}`.toLowerCase();
  return words.every((w) => text.includes(w));
}

const isFiltering = () => words.length > 0 || onlyNotReady;

/** Returns the visible rows: matching objects, and the owners of matching ones. */
function visibleRows() {
  const filtering = isFiltering();
  const rows = [];
  const visit = (uid, level, inherited, owner) => {
    const own = inherited || !filtering || matches(session.objects.get(uid));
    const below = level < deepest ? children.get(uid) ?? [] : [];
    const open = below.length > 0 && (filtering || !closed.has(uid));
    const at = rows.push({uid, level, owner, children: below.length, open});
    if (open) for (const u of below) visit(u, level + 1, own && !onlyNotReady, uid);
    if (!own && rows.length === at) rows.pop();
  };
  for (const uid of roots) visit(uid, 1, false, '');
  return rows;
}

/** Shows the objects. The rows stay the same while objects change only their state. */
function refresh() {
  const same = sorted === session.structure;
  if (!same) sortTree();
  if (same && !isFiltering()) list.render();
  else rebuild();
  const objects = [...session.objects.values()];
  const primaries = objects.filter((o) => o.primary).length;
  const notReady = objects.filter(isNotReady).length;
  setText(byId('objects-count'), objects.length ? count(primaries, 'custom resource') : '');
  setText(byId('objects-not-ready'), notReady ? `Not ready ${notReady.toLocaleString('en-US')}` : 'Not ready');
  showEmpty(list.rows.length, primaries);
}

function rebuild() {
  list.set(visibleRows());
  list.mark(selectedUID());
}

/** Tells what to do first, or that the filter hides everything. */
function showEmpty(shown, primaries) {
  const empty = byId('objects-empty');
  const operators = session.state?.operators ?? [];
  const none = primaries === 0 && operators.length > 0;
  const hidden = shown === 0 && session.objects.size > 0;
  empty.hidden = !none && !hidden;
  if (empty.hidden) return;
  const kind = operators[0]?.kind ?? 'custom resource';
  const text = hidden ? 'No object matches the filter.' : `Create ${article(kind)} ${kind}: pick a sample and press Apply.`;
  if (empty.firstChild?.textContent === text) return;
  empty.replaceChildren(h('p', {}, text), hidden
    ? button('Clear the filter', clearFilter)
    : button('Pick a sample', () => document.dispatchEvent(new CustomEvent('new-object')),
      {class: 'button primary', 'data-test': 'pick-sample'}));
}

const article = (word) => (/^[aeiou]/i.test(word) ? 'an' : 'a');

function filterChanged() {
  rebuild();
  refresh();
}

function clearFilter() {
  byId('objects-filter').value = '';
  words = [];
  onlyNotReady = false;
  byId('objects-not-ready').setAttribute('aria-pressed', false);
  filterChanged();
}

function create() {
  const twist = h('span', {class: 'twist'}, icon('chevron'));
  const dot = h('span', {class: 'dot'});
  const space = h('span', {class: 'space-of'});
  const name = h('span', {class: 'name'});
  const kind = h('span', {class: 'kind'});
  const note = h('span', {class: 'note'});
  const element = h('div', {class: 'row', role: 'treeitem', 'data-test': 'tree-row'}, twist, dot, space, name, kind, note);
  Object.assign(element, {twist, dot, space, name, kind, note});
  return element;
}

/** Returns a long name without that of its owner, so that the end is visible. */
function shortName({name}, owner) {
  return owner && name.length > 16 && name.startsWith(owner.name + '-') ? '…' + name.slice(owner.name.length) : name;
}

function update(element, {uid, level, owner, children: below, open}) {
  const object = session.objects.get(uid);
  if (!object) return;
  const ready = object.deleting ? 'deleting' : isStale(object) ? 'stale' : isProgressing(object) ? 'progressing' : object.ready || 'none';
  const text = remark(object);
  setText(element.name, shortName(object, session.objects.get(owner)));
  setText(element.space, spaces > 1 && level === 1 && object.namespace ? object.namespace + '/' : '');
  setText(element.kind, object.kind);
  setText(element.note, text);
  const condition = readyCondition(object);
  const say = {
    True: 'ready', False: 'not ready', Unknown: 'readiness unknown', deleting: 'deleting',
    stale: 'not up to date', progressing: 'not ready yet', none: '',
  }[ready];
  const wrong = ready === 'False' || ready === 'Unknown';
  element.className = `row ready-${ready} ${object.primary ? 'primary' : ''} ${wrong ? 'not-ready' : ''}`;
  element.style.setProperty('--level', level - 1);
  element.setAttribute('aria-level', level);
  element.setAttribute('aria-label', [reference(object), say, text].filter(Boolean).join(', '));
  element.title = `${reference(object)}${condition?.message ? '\n' + condition.message : ''}`;
  element.twist.classList.toggle('open', open);
  element.twist.style.visibility = below ? '' : 'hidden';
  if (below) element.setAttribute('aria-expanded', open);
  else element.removeAttribute('aria-expanded');
  element.dataset.uid = object.uid;
  element.dataset.kind = object.kind;
  element.dataset.name = object.name;
}

function toggle(uid, open) {
  if (open) closed.delete(uid);
  else closed.add(uid);
  rebuild();
}

function choose({uid, children: below, open}, event) {
  if (event?.target.closest?.('.twist') && below) return toggle(uid, !open);
  select({type: 'object', uid});
  return undefined;
}

function keydown({uid, children: below, open}, event) {
  const object = session.objects.get(uid);
  if (event.key === 'ArrowRight' && below && !open) toggle(uid, true);
  else if (event.key === 'ArrowLeft' && open) toggle(uid, false);
  else if (event.key === 'ArrowLeft' && session.objects.has(object.owners[0])) list.activate(object.owners[0]);
  else if (event.key === 'Delete') document.dispatchEvent(new CustomEvent('delete-object', {detail: object}));
  else return false;
  return true;
}

export function startTree() {
  list = new List(byId('tree'), {
    label: 'Objects', role: 'tree', height: 28, key: (row) => row.uid, create, update, choose, keydown,
    open: () => document.dispatchEvent(new CustomEvent('open-details')),
  });
  on('objects state', refresh);
  on('selection', () => list.mark(selectedUID()));
  const filter = byId('objects-filter');
  filter.addEventListener('input', debounced(() => {
    words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    filterChanged();
  }, 80));
  filter.addEventListener('keydown', (event) => { if (event.key === 'ArrowDown') byId('tree').focus(); });
  byId('objects-not-ready').addEventListener('click', (event) => {
    onlyNotReady = !onlyNotReady;
    event.currentTarget.setAttribute('aria-pressed', onlyNotReady);
    filterChanged();
  });
  byId('objects-new').addEventListener('click', () => document.dispatchEvent(new CustomEvent('new-object')));
  changed('objects');
}
