// Finds the template of a definition that contains the cursor. Another schema
// applies there: that of the template's kind.
import {locate} from './position.js';

/** Length of the paths spec.children[].template and spec.patches[].template. */
const depth = 4;

/** Returns the path of the template that a path leads through, or null. */
function templatePath(path) {
  const [spec, list, index, key] = path;
  const isTemplate = spec === 'spec' && ['children', 'patches'].includes(list) && typeof index === 'number' && key === 'template';
  return isTemplate ? path.slice(0, depth) : null;
}

/**
 * Returns the apiVersion and kind of the template around an offset, or null.
 * A value that contains the offset is left out: somebody may still be typing it.
 * @param {string} text definition
 * @param {number} offset
 * @returns {{apiVersion: string, kind: string, depth: number}|null} depth is the length of the template's path
 */
export function templateAt(text, offset) {
  const path = templatePath(locate(text, offset).path);
  if (!path) return null;
  const found = {};
  for (const match of text.matchAll(/\b(apiVersion|kind)["']?:[ \t]+["']?([\w./-]+)["']?/g)) {
    const [all, key, value] = match;
    const end = match.index + all.length;
    const typing = match.index + key.length < offset && offset <= end;
    if (!typing && isSame(locate(text, end).path, [...path, key]) && isSameDocument(text, offset, end)) found[key] = value;
  }
  return found.apiVersion && found.kind ? {...found, depth} : null;
}

const isSame = (a, b) => a.length === b.length && a.every((segment, i) => segment === b[i]);

function isSameDocument(text, a, b) {
  return !/^---(\s|$)/m.test(text.slice(Math.min(a, b), Math.max(a, b)));
}
