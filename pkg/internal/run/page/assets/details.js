// Shows the selected object or record.
import {get, post} from './api.js';
import {button, byId, copy, count, debounced, duration, guarded, h, reference, time, toast} from './dom.js';
import {bodyView, differences, differenceTable, jsonView} from './json.js';
import {on, select, session} from './store.js';
import {expected, filterBy} from './timeline.js';

const stateNames = {running: 'Running', done: 'Done', skipped: 'Nothing to do', failed: 'Failed', lost: 'Lost'};

/** Returns a section that can be closed, or nothing without content. */
function section(title, open, ...content) {
  const shown = content.flat().filter(Boolean);
  return shown.length === 0
    ? null
    : h('details', {class: 'section', open}, h('summary', {}, title), h('div', {class: 'section-body'}, ...shown));
}

function facts(list) {
  const shown = list.filter(([, value]) => value !== '' && value !== undefined && value !== null);
  return h('dl', {class: 'facts'}, shown.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

const objectKey = ({apiVersion, kind, namespace, name}) => ({apiVersion, kind, namespace: namespace ?? '', name});

/** Deletes an object of the API server. */
export const deleteObject = guarded(async (object) => {
  await post('delete', objectKey(object));
  toast(`Deleted ${reference(object)}`);
});

const editObject = (object) => document.dispatchEvent(new CustomEvent('edit-object', {detail: object}));

function link(uid, fallback) {
  const object = session.objects.get(uid);
  if (!object) return fallback;
  return h('button', {type: 'button', class: 'link', onclick: () => select({type: 'object', uid})}, reference(object));
}

function heading(title, sub, ...badges) {
  return h('div', {class: 'heading'}, h('div', {class: 'muted'}, sub), h('h2', {}, title, ' ', ...badges));
}

// Objects

function objectView(object, events) {
  const owned = object.managed || object.owners.length > 0;
  return [
    heading(object.name, [object.kind, object.namespace].filter(Boolean).join(' in '), readyBadge(object)),
    h('div', {class: 'actions'},
      button(owned ? 'Edit by hand' : 'Edit YAML', () => editObject(object), {'data-test': 'edit-object'}),
      button('Delete', () => deleteObject(object), {class: 'button small danger', 'data-test': 'delete-object'}),
      button('Show in timeline', () => filterBy(object.uid), {'data-test': 'filter-object'})),
    owned
      ? h('p', {class: 'hint'}, 'The operator manages this object. Change or delete it to see whether the operator restores it.')
      : null,
    session.restored.has(object.uid)
      ? h('p', {class: 'hint', 'data-test': 'restored'},
        `It was deleted, and came again after ${duration(session.restored.get(object.uid))}.`)
      : null,
    section('Status', true, facts([
      ['Ready', object.ready], ['Summary', object.summary],
      ...(object.columns ?? []).filter((c) => c.name !== 'Ready').map((c) => [c.name, c.value]),
      ['API version', object.apiVersion], ['Generation', generations(object)],
      ['Created', time(object.created)], ['Owner', object.owners.length ? h('span', {}, object.owners.map((u) => link(u, u))) : ''],
    ])),
    section('Conditions', true, object.conditions?.map(conditionView)),
    section('Children', true, [...session.children.get(object.uid) ?? []].map((u) => h('div', {}, link(u, u)))),
    section('Events', true, events?.length ? eventTable(events) : null),
  ];
}

function generations({generation, observed}) {
  if (!generation) return '';
  return observed && observed < generation ? `${generation}; the status is of ${observed}` : String(generation);
}

function readyBadge({ready, deleting}) {
  if (deleting) return h('span', {class: 'badge warn'}, 'deleting');
  const [text, kind] = {True: ['ready', 'ok'], False: ['not ready', 'bad'], Unknown: ['readiness unknown', 'warn']}[ready] ?? [];
  return text ? h('span', {class: 'badge ' + kind}, text) : '';
}

function conditionView({type, status, reason, message, lastTransitionTime}) {
  return h('div', {class: 'condition'},
    h('div', {}, h('strong', {}, type), ' ', status, reason ? ` · ${reason}` : '',
      h('span', {class: 'muted'}, ' since ' + time(lastTransitionTime))),
    message ? h('div', {class: 'message'}, message) : null);
}

function eventTable(events) {
  return h('table', {class: 'plain'}, h('tbody', {}, events.map((e) => h('tr', {class: e.type === 'Warning' ? 'warning' : ''},
    h('td', {}, e.reason, e.count > 1 ? ` (${e.count} times)` : ''), h('td', {}, e.message)))));
}

// Records

/**
 * Returns the elements of a whole record.
 * @param {object} record as of /api/records/{id}
 * @param {boolean} live false: the record of a test, which has no session
 */
export function recordView(record, live = true) {
  const bad = record.state === 'failed' || record.state === 'lost';
  const plain = record.state === 'done' && record.type !== 'delivery' && record.type !== 'workflow';
  const badge = plain
    ? ''
    : h('span', {class: `badge ${bad ? 'bad' : record.state === 'done' ? 'ok' : 'plain'}`}, stateNames[record.state] ?? record.state);
  const types = {event: 'Event', delivery: 'Trigger', workflow: 'Workflow', action: 'Action', note: 'Note'};
  return [
    heading(record.title, [types[record.type], time(record.time, true), duration(record.duration)].filter(Boolean).join(' · '), badge),
    live ? recordActions(record) : null,
    // The text of an update lists the changed fields, which the table of changes shows.
    record.text && !(record.input?.oldBody && !bad) ? h('p', {class: bad ? 'message bad' : 'message'}, record.text) : null,
    ...(record.type === 'event' ? eventSections(record) : deliverySections(record)),
  ];
}

function recordActions(record) {
  const object = session.objects.get(record.uid);
  return h('div', {class: 'actions'},
    record.type === 'event' ? button('Deliver again', guarded(async () => {
      await post('action', {action: 'redeliver', record: record.id});
      toast('The event is delivered again');
    }), {'data-test': 'redeliver'}) : null,
    record.cause && session.records.has(record.cause) ? button('Show event', () => select({type: 'record', id: record.cause})) : null,
    object ? button(`Show ${object.kind}`, () => select({type: 'object', uid: object.uid})) : null);
}

function eventSections({input, rejected}) {
  if (!input) return [rejectedSection(rejected)];
  const {body, oldBody} = input;
  const changes = oldBody ? relevant(differences(oldBody, body)) : [];
  const title = oldBody ? `Object (${count(changes.length, 'change')})` : 'Object';
  return [
    section('Changes', true, changes.length ? differenceTable(changes) : null),
    section(title, !oldBody, copyable(body), jsonView(body, oldBody ?? undefined)),
    rejectedSection(rejected),
    section('Payload', false, jsonView(input, undefined, 1)),
  ];
}

/** Returns the triggers whose filter rejected the event, and why. */
function rejectedSection(rejected) {
  return section(`Triggers with nothing to do (${rejected?.length ?? 0})`, true,
    rejected?.length ? h('table', {class: 'plain', 'data-test': 'rejected'},
    h('tbody', {}, rejected.map((r) => h('tr', {}, h('th', {scope: 'row'}, r.title), h('td', {}, r.text))))) : null);
}

/** Returns the changes without those that every write makes, if there are others. */
function relevant(changes) {
  const others = changes.filter((c) => !/^\.metadata\.(resourceVersion|managedFields)/.test(c.path));
  return others.length > 0 ? others : changes;
}

function deliverySections(record) {
  return [
    ...(record.attempts ?? []).map((a, i, all) => attemptView(a, i, all.length, record)),
    ...(record.containers ?? []).map(containerView),
    section('Program (jq)', Boolean(record.program) && !record.attempts?.length,
      record.program ? h('pre', {class: 'code', tabindex: 0}, record.program) : null),
    section('Input', false, record.input ? [copyable(record.input), jsonView(record.input, undefined, 1)] : null),
    section('Output', record.state === 'done', record.output ? [copyable(record.output), jsonView(record.output, undefined, 3)] : null),
  ];
}

const copyable = (value) => button('Copy', guarded(() => copy(JSON.stringify(value, null, 2), 'JSON')), {class: 'button small copy'});

function attemptView({trigger, failure, note, calls}, i, total, {title: own, state}) {
  const title = total > 1 ? `Attempt ${i + 1} of ${total}` : 'Requests';
  return section(title, true,
    trigger && trigger !== own ? h('div', {class: 'muted'}, trigger) : null,
    failure ? h('p', {class: 'message bad'}, failure) : null,
    note ? h('p', {class: 'message'}, note) : null,
    callList(calls, state === 'done' && !failure));
}

function callList(calls, fine = false) {
  return calls?.length ? h('div', {class: 'calls'}, calls.map((c) => callView(c, fine && c.status in expected))) : null;
}

function callView(c, fine) {
  const bad = !fine && (c.status >= 400 || c.status === 0);
  return h('details', {class: 'call', 'data-test': 'call'},
    h('summary', {},
      h('span', {class: 'method'}, c.method), h('span', {class: 'what'}, c.what || c.path),
      h('span', {class: `badge ${fine ? 'plain' : bad ? 'bad' : 'ok'}`}, c.status ? String(c.status) : 'no answer'),
      h('span', {class: 'muted'}, duration(c.duration))),
    fine ? h('p', {class: 'muted'}, expected[c.status]) : null,
    facts([['Path', h('code', {}, c.path ?? '')], ['Account', c.account], ['Content type', c.contentType]]),
    part('Body', c.body), part('Answer', c.answer));
}

function part(title, body) {
  return body === undefined || body === null || body === '' ? null : h('div', {class: 'part'}, h('h3', {}, title), bodyView(body));
}

function containerView(c) {
  const failed = c.exitCode !== 0 && !c.skipped;
  const outcome = c.skipped ? 'skipped' : c.killed ? 'killed' : `exit code ${c.exitCode}`;
  return section(h('span', {}, c.name, c.template ? ` (${c.template})` : '', ' ',
    h('span', {class: `badge ${failed || c.killed ? 'bad' : c.skipped ? 'plain' : 'ok'}`}, outcome)), true,
    c.skipped || c.killed ? h('p', {class: 'message'}, c.skipped || c.killed) : null,
    c.command?.length ? h('pre', {class: 'code', 'aria-label': 'Command'}, c.command.join(' ')) : null,
    h('h3', {}, 'Standard output and error'),
    c.output ? h('pre', {class: 'code output', tabindex: 0, 'data-test': 'output'}, c.output) : h('p', {class: 'muted'}, 'No output'),
    callList(c.calls));
}

// The pane

let wanted = 0; // the newest load; older answers are late
const whole = new Map(); // id, state and rejections of a record → the whole one

async function loadRecord(id) {
  const own = ++wanted;
  const summary = session.records.get(id);
  const key = [id, summary?.state, summary?.skipped].join(' ');
  try {
    const record = whole.get(key) ?? await get('records/' + id);
    if (whole.size > 100) whole.clear();
    if (record.state !== 'running') whole.set(key, record);
    if (own === wanted) render(recordView(record));
  } catch (error) {
    if (own === wanted) render([...(summary ? recordView(summary) : []), h('p', {class: 'message bad', role: 'alert'}, error.message)]);
  }
}

const loadEvents = debounced(async (object, own) => {
  const answer = await get('object', objectKey(object)).catch(() => null);
  if (own === wanted && answer?.events?.length) render(objectView(object, answer.events));
  events = {uid: object.uid, list: answer?.events ?? []};
}, 150);
let events = {uid: '', list: []};

const loadRecordSoon = debounced(loadRecord, 60);

function render(content) {
  const pane = byId('details');
  const open = new Map([...pane.querySelectorAll(':scope > details.section')].map((d) => [d.firstChild.textContent, d.open]));
  const {scrollTop} = pane;
  const focused = pane.contains(document.activeElement) ? document.activeElement.dataset?.test : '';
  pane.replaceChildren(...content.filter(Boolean));
  // An update of the same object keeps what was open, the scroll position and the focus.
  if (renderedFor === current()) {
    for (const d of pane.querySelectorAll(':scope > details.section')) d.open = open.get(d.firstChild.textContent) ?? d.open;
    pane.scrollTop = scrollTop;
    if (focused) pane.querySelector(`[data-test="${focused}"]`)?.focus();
  } else pane.scrollTop = 0;
  renderedFor = current();
}
let renderedFor = '';
const current = () => JSON.stringify(session.selection);

function refresh() {
  const {selection} = session;
  if (!selection) return render([h('div', {class: 'empty'}, h('p', {}, 'Select an object or a line of the timeline.'))]);
  if (selection.type === 'record') return loadRecordSoon(selection.id);
  const object = session.objects.get(selection.uid);
  const own = ++wanted;
  if (!object) return render([h('div', {class: 'empty', 'data-test': 'gone'}, h('p', {}, 'The object does not exist any more.'))]);
  render(objectView(object, events.uid === object.uid ? events.list : []));
  return loadEvents(object, own);
}

// Updates of the same object or record wait a little: a button must not change while somebody presses it.
const refreshSoon = debounced(refresh, 200);

export function startDetails() {
  on('selection', () => (renderedFor === current() ? refreshSoon() : refresh()));
  document.addEventListener('delete-object', ({detail}) => deleteObject(detail));
  refresh();
}
