// Collapsible JSON, and the differences of two objects.
import {h} from './dom.js';

const isContainer = (v) => v !== null && typeof v === 'object';
const show = (v) => (v === undefined ? 'nothing' : JSON.stringify(v));

/**
 * Returns the leaves that differ.
 * @returns {{path: string, old: any, now: any}[]}
 */
export function differences(old, now, path = '') {
  if (old === now) return [];
  if (!isContainer(old) || !isContainer(now) || Array.isArray(old) !== Array.isArray(now)) {
    return [{path: path || '.', old, now}];
  }
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].flatMap((k) => differences(old[k], now[k], path + segment(k, Array.isArray(now))));
}

function segment(key, isArray) {
  if (isArray) return `[${key}]`;
  return /^[A-Za-z_]\w*$/.test(key) ? '.' + key : `[${JSON.stringify(key)}]`;
}

/** Returns a path that breaks between its fields. */
function breakable(path) {
  return path.split(/(?=[.[])(?![^[]*"\])/) // not within the quotes of a key
    .flatMap((part) => [h('wbr'), part]);
}

function cell(value) {
  if (value === undefined) return '';
  return isContainer(value) ? jsonView(value, undefined, 0) : show(value);
}

/** Returns a table of differences. */
export function differenceTable(changes) {
  const row = ({path, old, now}) => h('tr', {},
    h('th', {scope: 'row'}, breakable(path)),
    h('td', {class: 'removed'}, cell(old)),
    h('td', {class: 'added'}, cell(now)));
  return h('table', {class: 'changes', 'data-test': 'changes'},
    h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Field'), h('th', {scope: 'col'}, 'Before'), h('th', {scope: 'col'}, 'After'))),
    h('tbody', {}, changes.map(row)));
}

/**
 * Returns a value as a tree; maps and lists can be closed. With an old value,
 * changed lines are marked and open.
 * @param {any} value
 * @param {any} [old]
 * @param {number} [depth] levels that are open
 */
export function jsonView(value, old, depth = 2) {
  return h('div', {class: 'json', 'data-test': 'json'}, node('', value, old, old !== undefined, depth));
}

function node(key, value, old, compare, depth) {
  const changed = compare && differences(old, value).length > 0;
  const state = !changed ? '' : old === undefined ? 'added' : value === undefined ? 'removed' : 'changed';
  const name = key === '' ? null : h('span', {class: 'json-key'}, key + ': ');
  if (!isContainer(value)) return leaf(name, value, old, state);
  const size = Object.keys(value).length;
  if (size === 0) return h('div', {class: `json-line ${state}`}, name, Array.isArray(value) ? '[]' : '{}');
  const summary = h('summary', {class: state === 'changed' ? '' : state}, name,
    h('span', {class: 'json-size'}, Array.isArray(value) ? `[${size}]` : `{${size}}`));
  const details = h('details', {}, summary);
  // The lines of a closed node are made when it opens: a large object costs nothing until then.
  details.addEventListener('toggle', () => fill(details, value, old, compare && state !== 'added', depth), {once: true});
  if (depth > 0 || state === 'changed') {
    fill(details, value, old, compare && state !== 'added', depth);
    details.open = key !== 'managedFields';
  }
  return details;
}

function fill(details, value, old, compare, depth) {
  if (details.childElementCount > 1) return;
  const keys = Object.keys(value);
  const gone = compare && isContainer(old) ? Object.keys(old).filter((k) => !(k in value)) : [];
  for (const k of [...keys, ...gone]) details.append(node(k, value[k], isContainer(old) ? old[k] : undefined, compare, depth - 1));
}

function leaf(name, value, old, state) {
  const type = value === null ? 'null' : typeof value;
  const before = state === 'changed' || state === 'removed' ? h('del', {}, show(old)) : null;
  const text = value === undefined ? null : h('span', {class: 'json-' + type}, show(value));
  return h('div', {class: `json-line ${state}`}, name, before, before && text ? ' ' : null, text);
}

/** Returns a body, which is JSON, an object or a text. */
export function bodyView(body) {
  if (isContainer(body)) return jsonView(body);
  const text = String(body ?? '');
  try {
    const value = JSON.parse(text);
    if (isContainer(value)) return jsonView(value);
  } catch { /* text that is not JSON stays text */ }
  return h('pre', {class: 'code'}, text);
}
