// Completion and hover of YAML by a JSON Schema.
import {locate, nodeAt} from './position.js';
import {describe, keysOf, schemasAt, typesOf, valuesOf} from './schema.js';

/**
 * Returns the options at an offset.
 * @param {object} root JSON Schema
 * @param {string} text
 * @param {number} offset
 * @param {number} skip how many segments of the path lead to the object of the schema
 * @returns {{from: number, options: {label: string, apply: string, detail: string, about: object|null, boost: number}[]}|null}
 */
export function complete(root, text, offset, skip = 0) {
  const at = locate(text, offset);
  if (at.kind === 'none') return null;
  const schemas = schemasAt(root, at.path.slice(skip));
  const options = at.kind === 'key' ? keyOptions(root, schemas, at) : [];
  // An item of a sequence and the value of a key can both be a scalar.
  if (at.kind === 'value' || typeof at.path.at(-1) === 'number') options.push(...valueOptions(schemas));
  return options.length === 0 ? null : {from: at.from, options};
}

function keyOptions(root, schemas, at) {
  const missing = [...keysOf(root, schemas)].filter(([key]) => !at.keys.includes(key));
  return missing.map(([key, {schemas: own, required}]) => ({
    label: key,
    apply: key + after(own, at),
    detail: [typesOf(own).join(' or '), required ? 'required' : ''].filter(Boolean).join(', '),
    about: describe(own),
    boost: required ? 1 : 0,
  }));
}

/** Returns what follows a key: a value on the same line, or the first line of a block. */
function after(schemas, at) {
  const types = typesOf(schemas);
  const indent = '\n' + ' '.repeat(at.column);
  if (at.flow || types.length !== 1) return ': ';
  if (types[0] === 'object') return ':' + indent + '  ';
  if (types[0] === 'array') return ':' + indent + '- ';
  return ': ';
}

function valueOptions(schemas) {
  return [...valuesOf(schemas)].map(([label, detail]) => ({label, apply: label, detail, about: null, boost: 0}));
}

/**
 * Returns the description of the key or value at an offset.
 * @param {object} root JSON Schema
 * @param {string} text
 * @param {number} offset
 * @param {number} skip how many segments of the path lead to the object of the schema
 */
export function explain(root, text, offset, skip = 0) {
  const node = nodeAt(text, offset);
  if (!node || node.path.length <= skip) return null;
  const schemas = schemasAt(root, node.path.slice(skip));
  return schemas.length === 0 ? null : {...node, about: describe(schemas)};
}
