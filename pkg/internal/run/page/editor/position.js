// Finds out where in a YAML document the cursor is. The document is usually
// incomplete while somebody types, so this reads indentation, dashes and flow
// collections instead of parsing YAML.

/**
 * @typedef {object} Position
 * @property {(string|number)[]} path path of the map, sequence or scalar that contains the cursor
 * @property {'key'|'value'|'none'} kind what can be typed here; none: a comment or text
 * @property {number} from offset where the typed word begins
 * @property {string} typed the word before the cursor
 * @property {string[]} keys keys that the map already has
 * @property {number} column column of the key, to indent what follows
 * @property {boolean} flow whether the cursor is in {…} or […]
 */

/**
 * Returns the tokens of a line of block style: its dashes and its key.
 * @param {string} line
 * @returns {{dash?: boolean, key?: string, column: number, end?: number}[]}
 */
export function tokens(line) {
  const found = [];
  let column = line.length - line.trimStart().length;
  while (/^-(\s|$)/.test(line.slice(column))) {
    found.push({dash: true, column});
    column += 1 + line.slice(column + 1).match(/^\s*/)[0].length;
  }
  const rest = line.slice(column);
  const key = rest.match(/^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#{["'][^#]*?)\s*:(?=\s|$)/);
  if (key) found.push({key: unquote(key[1]), column, end: column + key[0].length});
  return found;
}

/** @param {string} text */
function unquote(text) {
  return /^(".*"|'.*')$/.test(text) ? text.slice(1, -1) : text;
}

/**
 * Returns where the offset is.
 * @param {string} text
 * @param {number} offset
 * @returns {Position}
 */
export function locate(text, offset) {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const prefix = text.slice(start, offset);
  const lines = linesAbove(text, start);
  const here = tokens(prefix);
  const dashes = here.filter((t) => t.dash);
  const key = here.find((t) => t.key !== undefined);
  const column = key ? key.column : contentColumn(prefix);
  const none = {path: [], kind: 'none', from: offset, typed: '', keys: [], column, flow: false};
  if (inComment(prefix) || inBlockScalar(lines, column)) return none;

  const above = ancestors([...lines, prefix.slice(0, column)], column);
  const at = start + (key ? key.end : column);
  const value = text.slice(at, offset);
  const path = key ? [...above.path, key.key] : above.path;
  if (/^\s*[[{]/.test(value)) return inFlow(value, at, path, column) ?? none;
  const typed = value.trimStart();
  if (/^[|>&*!]/.test(typed)) return none;
  const from = offset - typed.length;
  if (key) return {path, kind: 'value', from, typed, keys: [], column, flow: false};
  const keys = [...above.keys, ...keysBelow(text, offset, column, dashes.length > 0)];
  return {path, kind: 'key', from, typed, keys, column, flow: false};
}

/**
 * Returns the column where the line after this one begins.
 * @param {string} line
 */
export function indentAfter(line) {
  const key = tokens(line).find((t) => t.key !== undefined);
  if (!key) return contentColumn(line);
  return /^\s*([|>][-+\d]*)?\s*(#.*)?$/.test(line.slice(key.end)) ? key.column + 2 : key.column;
}

/** Returns the lines of the same document above the line at start. */
function linesAbove(text, start) {
  const lines = text.slice(0, start).split('\n').slice(0, -1);
  const marker = lines.findLastIndex((l) => /^---(\s|$)/.test(l));
  return lines.slice(marker + 1);
}

/** Returns the column of what follows indentation and dashes. */
function contentColumn(prefix) {
  return prefix.match(/^\s*(-\s+)*/)[0].length;
}

function isEmpty(line) {
  return /^\s*(#|$)/.test(line);
}

/** Reports whether a comment begins outside of quotes. */
function inComment(prefix) {
  return /(^|\s)#/.test(prefix.replace(/"(?:[^"\\]|\\.)*"?|'[^']*'?/g, ''));
}

/** Reports whether a line with this column continues the text of a key: | above. */
function inBlockScalar(lines, column) {
  for (let i = lines.length - 1; i >= 0; i--) {
    if (/^\s*$/.test(lines[i])) continue;
    const own = tokens(lines[i]).at(-1)?.column ?? contentColumn(lines[i]);
    if (own >= column) continue;
    if (/(^|[\s:])[|>][+-]?\d?[+-]?\s*(#.*)?$/.test(lines[i])) return true;
    column = own;
  }
  return false;
}

/**
 * Returns the path to a column below the last of the lines, and the keys at
 * this column between the parent and the last line.
 */
function ancestors(lines, column) {
  const path = [];
  const keys = [];
  let limit = column;
  let sequence = false; // a sequence may have the same column as its key
  let found = false;
  for (let i = lines.length - 1; i >= 0; i--) {
    if (isEmpty(lines[i])) continue;
    for (const token of tokens(lines[i]).reverse()) {
      if (token.dash && sequence && token.column === limit) path[0]++;
      else if (token.column < limit || (sequence && !token.dash && token.column === limit)) {
        path.unshift(token.dash ? 0 : token.key);
        limit = token.column;
        sequence = Boolean(token.dash);
        found = true;
      } else if (!found && !token.dash && token.column === limit) keys.push(token.key);
    }
  }
  return {path, keys};
}

/** Returns the keys of the map at a column that follow the line of the offset. */
function keysBelow(text, offset, column, item) {
  const keys = [];
  const end = text.indexOf('\n', offset);
  for (const line of end < 0 ? [] : text.slice(end + 1).split('\n')) {
    if (isEmpty(line)) continue;
    const [first] = tokens(line);
    const own = first?.column ?? contentColumn(line);
    if (own < column || /^---/.test(line)) break;
    if (first?.dash && own === column && !item) continue; // the value of a key above, not indented
    if (own === column && first?.key !== undefined) keys.push(first.key);
  }
  return keys;
}

/** Returns the position in a flow collection, or null after its end or inside of quotes. */
function inFlow(value, at, path, column) {
  const stack = [];
  let word = 0;
  let quote = '';
  for (let i = 0; i < value.length; i++) {
    const c = value[i];
    if (quote) {
      if (c === '\\' && quote === '"') i++;
      else if (c === quote) quote = '';
      continue;
    }
    const top = stack.at(-1);
    if ((c === '"' || c === "'") && !value.slice(word, i).trim()) quote = c;
    else if (c === '{' || c === '[') stack.push({map: c === '{', index: 0, key: undefined, keys: []});
    else if (c === '}' || c === ']') stack.pop();
    else if (c === ',' && top) { top.index++; top.key = undefined; }
    else if (c === ':' && top?.map && top.key === undefined && /^(\s|$)/.test(value.slice(i + 1))) {
      top.key = unquote(value.slice(word, i).trim());
      top.keys.push(top.key);
    } else continue;
    if (!quote) word = i + 1;
  }
  if (stack.length === 0 || quote) return null;
  const full = [...path];
  for (const level of stack.slice(0, -1)) full.push(level.map ? level.key : level.index);
  const top = stack.at(-1);
  const typed = value.slice(word).trimStart();
  const common = {from: at + value.length - typed.length, typed, column, flow: true};
  if (top.map && top.key === undefined) return {path: full, kind: 'key', keys: top.keys, ...common};
  return {path: [...full, top.map ? top.key : top.index], kind: 'value', keys: [], ...common};
}

/**
 * Returns the path of the key or value at the offset, for its description.
 * @param {string} text
 * @param {number} offset
 * @returns {{path: (string|number)[], from: number, to: number}|null}
 */
export function nodeAt(text, offset) {
  const isWord = (c) => c !== undefined && /[\w.$/-]/.test(c);
  let from = offset;
  let to = offset;
  while (isWord(text[from - 1])) from--;
  while (isWord(text[to])) to++;
  if (from === to) return null;
  const {kind, path} = locate(text, to);
  if (kind === 'none') return null;
  const isKey = kind === 'key' && text[to] === ':';
  return {path: isKey ? [...path, text.slice(from, to)] : path, from, to};
}
