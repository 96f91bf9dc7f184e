// Events with their deliveries and Workflows, the newest at the end.
import {byId, count, debounced, duration, h, icon, reference, setText, time} from './dom.js';
import {List} from './list.js';
import {clearRecords, family, newestRecord, on, select, selectedUID, session} from './store.js';

const stateNames = {
  running: 'running', done: 'done', skipped: 'nothing to do', failed: 'failed', lost: 'lost', retried: 'done after a failure',
};
const typeNames = {event: 'Event', delivery: 'Trigger', workflow: 'Workflow', action: 'Action', note: 'Note'};

/**
 * A list of groups of records. The page has one for the session; the results of
 * tests have their own.
 */
export class RecordList {
  /**
   * @param {HTMLElement} scroller
   * @param {string} label
   * @param {(id: number) => void} choose a record
   * @param {() => void} [open] shows the chosen record
   */
  constructor(scroller, label, choose, open) {
    this.opened = new Set(); // ids of heads whose records are shown
    this.folds = false;
    this.list = new List(scroller, {
      label, role: 'tree', height: 26, key: (row) => row.record.id, create, update, open,
      choose: (row, event) => {
        if (event?.target.closest?.('.twist') && row.below) return this.toggle(row.record.id);
        return choose(row.record.event ?? row.record.id);
      },
      keydown: (row, event) => this.pressed(row, event),
    });
  }

  /** Shows or hides what a record led to. */
  toggle(id, open = !this.opened.has(id)) {
    if (open) this.opened.add(id);
    else this.opened.delete(id);
    this.again?.();
  }

  pressed({record, below, open, head}, event) {
    if (event.key === 'ArrowRight' && below && !open) this.toggle(record.id, true);
    else if (event.key === 'ArrowLeft' && open) this.toggle(record.id, false);
    else if (event.key === 'ArrowLeft' && head) this.list.activate(head);
    else return false;
    return true;
  }

  /**
   * Shows groups, and the end of the list if that was visible before.
   * @param {Iterable<import('./store.js').Group>} groups
   * @param {{skipped?: boolean, about?: ((record: object) => boolean)|null, matches?: ((group: object) => boolean)|null,
   *   newest?: number}} filter
   */
  show(groups, {skipped = false, about = null, matches = null, newest = Infinity} = {}) {
    const rows = [];
    for (const group of groups) {
      const {head, items} = group;
      if (head.id > newest || (about && !about(head) && !items.some(about)) || (matches && !matches(group))) continue;
      const shown = items.filter((r) => r.id <= newest);
      const below = this.folds && (shown.length > 0 || (skipped && head.skipped > 0));
      const open = !this.folds || this.opened.has(head.id);
      rows.push({record: head, level: 1, below, open: below && open, rejected: !skipped && items.length === 0 ? head.skipped : 0,
        story: this.folds && shown.length > 0 ? storyOf(head, shown) : null});
      if (!open) continue;
      if (skipped && head.skipped) rows.push({record: rejection(head), level: 2, rejected: 0, since: head, head: head.id});
      for (const record of shown) {
        const level = record.type === 'event' || record.cause === head.id || !record.cause ? 2 : 3;
        rows.push({record, level, rejected: 0, since: head, head: head.id});
        if (skipped && record.skipped) rows.push({record: rejection(record), level: 3, rejected: 0, since: head, head: head.id});
      }
    }
    this.list.set(rows);
    return rows.length;
  }
}

const isBad = ({state}) => state === 'failed' || state === 'lost';

/**
 * Returns what an event led to, in a line. Its result is that of the last run of each trigger.
 * @returns {{state: string, text: string, took: number}}
 */
export function storyOf(head, items) {
  const last = new Map();
  let writes = 0;
  let end = new Date(head.time).getTime() + head.duration;
  for (const record of items) {
    last.set(`${record.title}\n${record.uid || record.name}`, record);
    writes += (record.calls ?? []).filter((c) => c.method !== 'GET' && c.status < 400).length;
    end = Math.max(end, new Date(record.time).getTime() + record.duration);
  }
  const failure = [head, ...last.values()].find(isBad);
  const events = 1 + items.filter((r) => r.type === 'event').length;
  const state = failure?.state
    ?? (items.some((r) => r.state === 'running') ? 'running' : items.some(isBad) ? 'retried' : 'done');
  const text = [failure && (failure.text || failure.title), count(events, 'event'), count(writes, 'write')].filter(Boolean).join(' · ');
  return {state, text, took: end - new Date(head.time).getTime()};
}

/** Returns a line for the triggers whose filter rejected an event. Its details are those of the event. */
function rejection({id, time: at, skipped}) {
  return {id: -id, event: id, time: at, type: 'delivery', state: 'skipped',
    title: count(skipped, 'trigger'), text: 'had nothing to do. Open the event for the reasons.'};
}

/** Returns the groups of records that are a list. */
export function groupsOf(records) {
  const groups = new Map();
  for (const record of records) {
    const group = groups.get(record.cause);
    if (group) group.items.push(record);
    else groups.set(record.id, {head: record, items: []});
  }
  return groups.values();
}

function create() {
  const cells = ['clock', 'twist', 'mark', 'title', 'request', 'status', 'took'].map((name) => [name, h('span', {class: name})]);
  const element = h('div', {class: 'row', role: 'treeitem', 'data-test': 'timeline-row'}, ...cells.map(([, cell]) => cell));
  element.cells = Object.fromEntries(cells);
  element.cells.twist.append(icon('chevron'));
  return element;
}

/** Returns the icon: that of the outcome, or of the type where the outcome is plain. */
function mark({type, state}) {
  if (state === 'done' && (type === 'event' || type === 'action' || type === 'note')) return type;
  return state;
}

/** Returns the only request, or how many there are. */
function requests(calls) {
  return calls.length === 1 ? `${calls[0].method} ${calls[0].what}` : calls.length ? count(calls.length, 'request') : '';
}

/** What answers of the API server mean that are no failures. */
export const expected = {
  404: 'The object is gone already, which the operator expects.',
  409: 'The object changed meanwhile. The operator handles the event of that change.',
};

function update(element, {record, level, below, open, rejected, story, since}) {
  const {clock, twist, mark: sign, title, request, status, took} = element.cells;
  const {type, calls = []} = record;
  const state = story?.state ?? record.state;
  const bad = state === 'failed' || state === 'lost';
  element.className = `row record-row type-${type} state-${state}${level > 1 ? ' child' : ''}`;
  element.style.setProperty('--level', level - 1);
  element.setAttribute('aria-level', level);
  element.dataset.record = record.id;
  element.dataset.state = state;
  twist.style.visibility = below ? '' : 'hidden';
  twist.classList.toggle('open', Boolean(open));
  if (below) element.setAttribute('aria-expanded', open);
  else element.removeAttribute('aria-expanded');
  setText(clock, since ? offset(record.time, since.time) : time(record.time, true));
  const name = mark({type, state});
  if (sign.dataset.icon !== name) {
    sign.dataset.icon = name;
    sign.replaceChildren(icon(name));
  }
  const ofWorker = type === 'workflow' && record.kind !== 'Workflow'; // whose title says what ran
  const named = ofWorker
    ? record.title.replace(/^Deployment \S+, reconcile of (default\.)?/, 'Reconcile ')
    : record.title.replace(' default/', ' ');
  setText(title, type === 'workflow' && !ofWorker ? 'Workflow ' + record.title : named);
  const by = record.by && since === undefined ? `by ${who(record.by)}` : '';
  const text = story ? [by, story.text].filter(Boolean).join(' · ')
    : [record.text, rejected ? `${count(rejected, 'trigger')} had nothing to do` : ''].filter(Boolean).join(' · ');
  setText(request, (bad || story) && text ? text : requests(calls) || text);
  const answer = (bad && calls.findLast((c) => c.status >= 400)) || calls.at(-1);
  const code = type === 'workflow' || story ? 0 : answer?.status ?? 0; // a Workflow may read what does not exist
  const fine = code >= 400 && state === 'done' && code in expected;
  setText(status, code ? String(code) : '');
  status.classList.toggle('bad', code >= 400 && !fine);
  status.classList.toggle('expected', fine);
  setText(took, state === 'running' ? 'running' : duration(story?.took ?? record.duration));
  const what = ofWorker ? '' : typeNames[type];
  const parts = [what, record.title, stateNames[state], request.textContent, status.textContent, took.textContent];
  element.setAttribute('aria-label', parts.filter(Boolean).join(', '));
  element.title = [record.title, story?.text ?? record.text, record.kind ? reference(record) : '', fine ? expected[code] : '']
    .filter(Boolean).join('\n');
}

/** Returns who a field manager is. */
const who = (manager) => manager.replace(/kubectl[\w-]*/, 'kubectl')
  .replace('kube-controller-manager', 'a controller').replace('node-fetch', 'this page');

/** Returns how long after another time something happened. */
function offset(at, since) {
  const ms = new Date(at).getTime() - new Date(since).getTime();
  return `+${ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`}`;
}

let view;
let pausedAt = Infinity; // the newest record that is shown
let arrived = 0; // records since then
let skipped = false;
let onlySelected = false;
let filterUID = ''; // stays while somebody looks at records of the object
let onlyFailures = false;
let words = [];
let following = true; // the newest rows are visible

/** Returns whether a group has what somebody looks for; null: everybody sees all. */
function filter() {
  if (!onlyFailures && words.length === 0) return null;
  return ({head, items}) => {
    if (onlyFailures && ![head, ...items].some(isBad)) return false;
    const text = [head, ...items].map((r) => `${r.title} ${r.text} ${r.namespace}/${r.name}`).join('\n').toLowerCase();
    return words.every((w) => text.includes(w));
  };
}

function refresh() {
  const about = onlySelected && filterUID ? isAbout(family(filterUID)) : null;
  const rows = view.show(session.groups.values(), {skipped, about, matches: filter(), newest: pausedAt});
  if (following) view.list.toEnd();
  byId('timeline-follow').hidden = following || view.list.atEnd();
  setText(byId('timeline-count'), summary());
  showEmpty(rows);
}

/** Returns whether a record is about one of the objects. What somebody did has no uid, only a name. */
function isAbout(uids) {
  const names = new Set([...uids].map((u) => session.objects.get(u)).filter(Boolean).map((o) => `${o.kind} ${o.name}`));
  return (record) => (record.uid ? uids.has(record.uid) : names.has(`${record.kind} ${record.name}`));
}

function summary() {
  if (pausedAt < Infinity) return arrived ? `paused, ${arrived.toLocaleString('en-US')} new` : 'paused';
  return session.records.size ? count(session.records.size, 'record') : '';
}

function showEmpty(rows) {
  const empty = byId('timeline-empty');
  empty.hidden = rows > 0;
  if (empty.hidden) return;
  const text = session.records.size > 0 ? 'The filter hides all records.'
    : session.objects.size > 0 ? 'Nothing happened yet. Change an object, or switch on a fault.'
      : 'Events and what they cause appear here.';
  if (empty.textContent !== text) empty.replaceChildren(h('p', {}, text));
}

/** Tells screen readers what somebody must know; the list itself is too fast to read. */
function announce() {
  const log = byId('log');
  for (const {record} of session.fresh) {
    if (record.state !== 'failed' && record.type !== 'action') continue;
    log.append(h('p', {}, `${record.title}${record.state === 'failed' ? ' failed' : ''}. ${record.text ?? ''}`));
  }
  while (log.childElementCount > 20) log.firstChild.remove();
}

/** Filters by an object, or by none. */
export function filterBy(uid) {
  onlySelected = Boolean(uid);
  filterUID = uid;
  updateSelected();
  refresh();
}

function updateSelected() {
  const toggle = byId('timeline-selected');
  const object = session.objects.get(filterUID);
  toggle.setAttribute('aria-pressed', onlySelected);
  toggle.disabled = !onlySelected && !session.objects.has(selectedUID());
  setText(toggle, onlySelected && object ? `Only ${object.name}` : 'Selected object');
}

function followSelection() {
  const {selection} = session;
  // A record of the filtered timeline must not change the filter.
  if (selection?.type === 'object') filterUID = selection.uid;
  updateSelected();
  if (selection?.type === 'record') unfold(selection.id);
  view.list.mark(selection?.type === 'record' ? selection.id : null);
  if (onlySelected && selection?.type === 'object') refresh();
}

/** Opens the group of a record, so that it is visible. */
function unfold(id) {
  const record = session.records.get(id);
  const cause = session.records.get(record?.cause) ?? record;
  const head = session.records.has(cause?.root) ? cause.root : cause?.id;
  if (head && head !== id && !view.opened.has(head)) view.toggle(head, true);
}

function toggleButton(id, change) {
  const element = byId(id);
  element.addEventListener('click', () => {
    const pressed = element.getAttribute('aria-pressed') !== 'true';
    element.setAttribute('aria-pressed', pressed);
    change(pressed);
    refresh();
  });
}

export function startTimeline() {
  view = new RecordList(byId('timeline-list'), 'Timeline',
    (id) => select({type: 'record', id}),
    () => document.dispatchEvent(new CustomEvent('open-details')));
  view.folds = true;
  view.again = refresh;
  const {scroller} = view.list;
  new ResizeObserver(() => { if (following) view.list.toEnd(); }).observe(scroller);
  toggleButton('timeline-all', (pressed) => { view.folds = !pressed; });
  toggleButton('timeline-failures', (pressed) => { onlyFailures = pressed; });
  byId('timeline-filter').addEventListener('input', debounced(() => {
    words = byId('timeline-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    refresh();
  }, 80));
  toggleButton('timeline-skipped', (pressed) => { skipped = pressed; });
  toggleButton('timeline-pause', (pressed) => { pausedAt = pressed ? newestRecord() : Infinity; arrived = 0; });
  byId('timeline-selected').addEventListener('click', () => filterBy(onlySelected ? '' : selectedUID()));
  byId('timeline-clear').addEventListener('click', clearRecords);
  byId('timeline-follow').addEventListener('click', () => { following = true; view.list.toEnd(); refresh(); });
  for (const moved of ['wheel', 'touchmove', 'keyup', 'pointerup', 'scroll'])
    scroller.addEventListener(moved, (event) => {
      // A smaller pane scrolls by itself; only somebody who scrolls leaves the end.
      if (view.list.atEnd()) following = true;
      else if (event.type !== 'scroll') following = false;
      byId('timeline-follow').hidden = following;
    }, {passive: true});
  on('records', () => { arrived += session.fresh.filter((f) => f.first).length; announce(); refresh(); });
  on('objects', () => { if (session.records.size === 0) refresh(); });
  on('selection', followSelection);
  refresh();
  updateSelected();
}
