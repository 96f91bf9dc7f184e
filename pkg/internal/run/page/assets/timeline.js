// Events with their deliveries and Workflows, the newest at the end.
import {byId, count, duration, h, icon, reference, setText, time} from './dom.js';
import {List} from './list.js';
import {clearRecords, family, newestRecord, on, select, selectedUID, session} from './store.js';

const stateNames = {running: 'running', done: 'done', skipped: 'rejected by the filter', failed: 'failed', lost: 'lost'};
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
    this.list = new List(scroller, {
      label, role: 'listbox', height: 26, key: (row) => row.record.id, create, update,
      choose: (row) => choose(row.record.event ?? row.record.id),
      open,
    });
  }

  /**
   * Shows groups, and the end of the list if that was visible before.
   * @param {Iterable<import('./store.js').Group>} groups
   * @param {{skipped?: boolean, about?: ((record: object) => boolean)|null, newest?: number}} filter
   */
  show(groups, {skipped = false, about = null, newest = Infinity} = {}) {
    const rows = [];
    for (const {head, items} of groups) {
      if (head.id > newest || (about && !about(head) && !items.some(about))) continue;
      const shown = items.filter((r) => r.id <= newest);
      rows.push({record: head, child: false, rejected: !skipped && items.length === 0 ? head.skipped : 0});
      if (skipped && head.skipped) rows.push({record: rejection(head), child: true, rejected: 0});
      for (const record of shown) rows.push({record, child: true, rejected: 0});
    }
    this.list.set(rows);
    return rows.length;
  }
}

/** Returns a line for the triggers whose filter rejected an event. Its details are those of the event. */
function rejection({id, time: at, skipped}) {
  return {id: -id, event: id, time: at, type: 'delivery', state: 'skipped',
    title: count(skipped, 'trigger'), text: 'The filter rejected the event. Open it for the reasons.'};
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
  const cells = ['clock', 'mark', 'title', 'request', 'status', 'took'].map((name) => [name, h('span', {class: name})]);
  const element = h('div', {class: 'row', role: 'option', 'data-test': 'timeline-row'}, ...cells.map(([, cell]) => cell));
  element.cells = Object.fromEntries(cells);
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

function update(element, {record, child, rejected}) {
  const {clock, mark: sign, title, request, status, took} = element.cells;
  const {type, state, calls = []} = record;
  const bad = state === 'failed' || state === 'lost';
  element.className = `row type-${type} state-${state}${child ? ' child' : ''}`;
  element.dataset.record = record.id;
  element.dataset.state = state;
  setText(clock, time(record.time));
  const name = mark(record);
  if (sign.dataset.icon !== name) {
    sign.dataset.icon = name;
    sign.replaceChildren(icon(name));
  }
  const ofWorker = type === 'workflow' && record.kind !== 'Workflow'; // whose title says what ran
  setText(title, type === 'workflow' && !ofWorker ? 'Workflow ' + record.title : record.title);
  const text = [record.text, rejected ? `rejected by ${count(rejected, 'filter')}` : ''].filter(Boolean).join(' · ');
  setText(request, bad && text ? text : requests(calls) || text);
  const code = type === 'workflow' ? 0 : calls.at(-1)?.status ?? 0; // a Workflow may read what does not exist
  setText(status, code ? String(code) : '');
  status.classList.toggle('bad', code >= 400);
  setText(took, state === 'running' ? 'running' : duration(record.duration));
  const what = ofWorker ? '' : typeNames[type];
  const parts = [what, record.title, stateNames[state], request.textContent, status.textContent, took.textContent];
  element.setAttribute('aria-label', parts.filter(Boolean).join(', '));
  element.title = [record.title, record.text, record.kind ? reference(record) : ''].filter(Boolean).join('\n');
}

let view;
let pausedAt = Infinity; // the newest record that is shown
let arrived = 0; // records since then
let skipped = false;
let onlySelected = false;
let filterUID = ''; // stays while somebody looks at records of the object

function refresh() {
  const {scroller} = view.list;
  const following = view.list.atEnd() || scroller.scrollTop === 0 && scroller.scrollHeight <= scroller.clientHeight;
  const about = onlySelected && filterUID ? isAbout(family(filterUID)) : null;
  const rows = view.show(session.groups.values(), {skipped, about, newest: pausedAt});
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
  setText(toggle, onlySelected && object ? `Only ${object.name}` : 'Selected');
}

function followSelection() {
  const {selection} = session;
  // A record of the filtered timeline must not change the filter.
  if (selection?.type === 'object') filterUID = selection.uid;
  updateSelected();
  view.list.mark(selection?.type === 'record' ? selection.id : null);
  if (onlySelected && selection?.type === 'object') refresh();
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
  toggleButton('timeline-skipped', (pressed) => { skipped = pressed; });
  toggleButton('timeline-pause', (pressed) => { pausedAt = pressed ? newestRecord() : Infinity; arrived = 0; });
  byId('timeline-selected').addEventListener('click', () => filterBy(onlySelected ? '' : selectedUID()));
  byId('timeline-clear').addEventListener('click', clearRecords);
  byId('timeline-follow').addEventListener('click', () => { view.list.toEnd(); refresh(); });
  view.list.scroller.addEventListener('scroll', () => { if (view.list.atEnd()) byId('timeline-follow').hidden = true; }, {passive: true});
  on('records', () => { arrived += session.fresh.filter((f) => f.first).length; announce(); refresh(); });
  on('objects', () => { if (session.records.size === 0) refresh(); });
  on('selection', followSelection);
  refresh();
  updateSelected();
}
