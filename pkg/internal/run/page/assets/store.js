// What the page knows of the session. Messages change it at once; listeners
// run once per frame, so a burst of messages costs one update of the page.
import {stream} from './api.js';

/** Records that the page keeps; the server keeps the whole ones. */
const keptRecords = 5000;
/** Records that wait for the graph; a hidden tab has no frames. */
const keptFresh = 500;

/**
 * @typedef {{head: object, items: object[]}} Group an event with its deliveries, or a record of its own
 */
export const session = {
  /** @type {object|null} */ state: null,
  /** @type {Map<string, object>} */ objects: new Map(),
  /** @type {Map<string, Set<string>>} uid of an owner → uids */ children: new Map(),
  /** changes whenever objects come, go or get other owners */ structure: 0,
  /** @type {Map<number, object>} */ records: new Map(),
  /** @type {Map<number, Group>} id of the head → group, oldest first */ groups: new Map(),
  /** @type {{record: object, first: boolean}[]} records of this frame */ fresh: [],
  /** the newest record that somebody cleared; a new connection sends it again */ cleared: 0,
  pending: 0,
  connection: 'connecting',
  reason: '',
  /** @type {{type: 'object', uid: string}|{type: 'record', id: number}|null} */ selection: null,
  /** @type {Map<string, {object: object, time: number}>} uid → what was deleted last */ gone: new Map(),
  /** @type {Map<string, number>} uid → milliseconds after which it came again under the same name */ restored: new Map(),
};

const listeners = new Map();
const dirty = new Set();
let waiting = false;
let pause = 0; // milliseconds until the next update may begin

/**
 * Calls the listener once per frame after a change of one of the topics:
 * state, objects, records, queue, connection, selection (or what is selected
 * changed), choice (somebody selected).
 */
export function on(topics, listener) {
  for (const topic of topics.split(' ')) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
  }
}

export function changed(topic) {
  dirty.add(topic);
  if (waiting) return;
  waiting = true;
  if (pause > 0) setTimeout(() => requestAnimationFrame(flush), pause);
  else requestAnimationFrame(flush);
}

function flush() {
  waiting = false;
  const start = performance.now();
  const calls = new Set();
  for (const topic of dirty) listeners.get(topic)?.forEach((l) => calls.add(l));
  dirty.clear();
  calls.forEach((listener) => listener());
  session.fresh = [];
  // A slow machine updates less often, so that it still answers to keys and clicks.
  const took = performance.now() - start;
  pause = took > 8 ? Math.min(2 * took, 200) : 0;
}

export function select(selection) {
  session.selection = selection;
  changed('selection');
  changed('choice');
}

/** Returns the uid of the object that is selected, directly or by a record about it. */
export function selectedUID() {
  const {selection} = session;
  if (!selection) return '';
  return selection.type === 'object' ? selection.uid : session.records.get(selection.id)?.uid ?? '';
}

/** Returns the uids of an object and everything below it. */
export function family(uid, found = new Set()) {
  if (found.has(uid)) return found;
  found.add(uid);
  session.children.get(uid)?.forEach((c) => family(c, found));
  return found;
}

/** Returns the id of the newest record. */
export function newestRecord() {
  let newest = 0;
  for (const id of session.records.keys()) newest = Math.max(newest, id);
  return newest;
}

export function clearRecords() {
  session.cleared = newestRecord();
  session.records.clear();
  session.groups.clear();
  changed('records');
}

let again = false; // the next message is the first one of a connection

function receive(name, data) {
  if (again) forget();
  again = false;
  handlers[name]?.(data);
}

/** Forgets everything that a new connection sends again. */
function forget() {
  session.objects.clear();
  session.children.clear();
  session.records.clear();
  session.groups.clear();
  session.fresh = [];
  session.structure++;
  for (const topic of ['objects', 'records', 'selection']) changed(topic);
}

const handlers = {
  state(state) {
    session.state = state;
    changed('state');
  },
  object(object) {
    const old = session.objects.get(object.uid);
    session.objects.set(object.uid, object);
    if (!old || old.owners.join() !== object.owners.join()) adopt(object, old);
    if (!old) restore(object);
    changed('objects');
    if (session.selection?.uid === object.uid) changed('selection');
  },
  gone({uid}) {
    const old = session.objects.get(uid);
    session.objects.delete(uid);
    old?.owners.forEach((o) => session.children.get(o)?.delete(uid));
    session.structure++;
    if (old) remember(old);
    changed('objects');
    if (session.selection?.uid === uid) changed('selection');
  },
  record(record) {
    if (record.id <= session.cleared) return;
    const old = session.records.get(record.id);
    if (old) {
      const before = headOf(old);
      Object.assign(old, record);
      if (headOf(old) !== before) move(old, before);
    } else insert(record);
    if (session.fresh.length < keptFresh) session.fresh.push({record, first: !old});
    changed('records');
    if (session.selection?.id === record.id) changed('selection');
  },
  queue({pending}) {
    session.pending = pending;
    changed('queue');
  },
};

function adopt(object, old) {
  old?.owners.forEach((o) => session.children.get(o)?.delete(object.uid));
  for (const owner of object.owners) {
    if (!session.children.has(owner)) session.children.set(owner, new Set());
    session.children.get(owner).add(object.uid);
  }
  session.structure++;
}

/** How many deleted objects the page remembers. */
const keptGone = 50;

function remember(object) {
  session.gone.set(object.uid, {object, time: Date.now()});
  if (session.gone.size > keptGone) session.gone.delete(session.gone.keys().next().value);
}

const named = ({apiVersion, kind, namespace, name}) => [apiVersion, kind, namespace, name].join('\n');

/** Recognises an object that was deleted and came again. The selection follows it. */
function restore(object) {
  for (const [uid, {object: before, time}] of session.gone) {
    if (named(before) !== named(object)) continue;
    session.gone.delete(uid);
    session.restored.set(object.uid, Date.now() - time);
    if (session.selection?.uid !== uid) continue;
    session.selection = {type: 'object', uid: object.uid};
    changed('selection');
  }
}

/** Returns the id of the record with which everything began that led to a record. */
function headOf(record) {
  const of = session.records.get(record.cause) ?? record;
  return session.records.has(of.root) ? of.root : of.id;
}

/** Moves a record into the group of what led to it, with its own group. */
function move(record, before) {
  const own = session.groups.get(before);
  const to = headOf(record);
  const group = session.groups.get(to);
  if (!own || !group || own === group) return;
  const moved = before === record.id ? [own.head, ...own.items] : own.items.filter((r) => r === record || r.cause === record.id);
  if (before === record.id) session.groups.delete(before);
  else own.items = own.items.filter((r) => !moved.includes(r));
  group.items = [...group.items, ...moved].sort((a, b) => a.id - b.id);
}

function insert(record) {
  session.records.set(record.id, record);
  const group = session.groups.get(headOf(record));
  if (group) group.items.push(record);
  else session.groups.set(record.id, {head: record, items: []});
  while (session.records.size > keptRecords) dropOldest();
}

function dropOldest() {
  const [id, group] = session.groups.entries().next().value;
  session.groups.delete(id);
  for (const record of [group.head, ...group.items]) session.records.delete(record.id);
}

export function connect() {
  stream(receive, (connection, reason) => {
    again = connection === 'connected';
    Object.assign(session, {connection, reason});
    changed('connection');
  });
}
