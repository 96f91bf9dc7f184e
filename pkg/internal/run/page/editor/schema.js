// Reads a JSON Schema for completion and hover.

/** Returns the schemas that apply together with or instead of this one. */
function expand(root, schema, seen = new Set()) {
  if (!schema || typeof schema !== 'object' || seen.has(schema)) return [];
  seen.add(schema);
  const all = [schema];
  const add = (s) => all.push(...expand(root, s, seen));
  if (schema.$ref) add(resolve(root, schema.$ref));
  for (const name of ['allOf', 'anyOf', 'oneOf']) schema[name]?.forEach(add);
  add(schema.then);
  add(schema.else);
  return all;
}

/** Resolves a reference within the schema, such as #/$defs/API. */
function resolve(root, ref) {
  if (!ref.startsWith('#/')) return undefined;
  const names = ref.slice(2).split('/').map((n) => decodeURIComponent(n).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce((s, n) => s?.[n], root);
}

/**
 * Returns the schemas of the node at a path.
 * @param {object} root
 * @param {(string|number)[]} path
 * @returns {object[]}
 */
export function schemasAt(root, path) {
  let schemas = expand(root, root);
  for (const segment of path) {
    const next = schemas.map((s) => child(s, segment)).filter(Boolean);
    schemas = next.flatMap((s) => expand(root, s));
  }
  return schemas;
}

function child(schema, segment) {
  if (typeof segment === 'number') return schema.prefixItems?.[segment] ?? schema.items;
  if (Object.hasOwn(schema.properties ?? {}, segment)) return schema.properties[segment];
  const pattern = Object.keys(schema.patternProperties ?? {}).find((p) => new RegExp(p, 'u').test(segment));
  return pattern === undefined ? schema.additionalProperties : schema.patternProperties[pattern];
}

/** Returns the keys that a map at these schemas may have, with their schemas. */
export function keysOf(root, schemas) {
  const keys = new Map();
  for (const schema of schemas) {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      if (!keys.has(key)) keys.set(key, {schemas: expand(root, value), required: false});
      if (schema.required?.includes(key)) keys.get(key).required = true;
    }
  }
  return keys;
}

/** Returns the values that the schemas name: enums, booleans, the default and examples. */
export function valuesOf(schemas) {
  const values = new Map();
  const add = (value, detail) => {
    if (value === null || typeof value === 'object') return;
    const label = typeof value === 'string' ? quoted(value) : String(value);
    if (!values.has(label)) values.set(label, detail);
  };
  for (const s of schemas) {
    s.enum?.forEach((v) => add(v, ''));
    if ('const' in s) add(s.const, '');
    if (typesOf([s]).includes('boolean')) [true, false].forEach((v) => add(v, ''));
  }
  const closed = values.size > 0;
  for (const s of schemas) {
    if ('default' in s) add(s.default, 'default');
    if (!closed) s.examples?.forEach((v) => add(v, 'example'));
  }
  return values;
}

/** Quotes a string that YAML would otherwise read as another type or as syntax. */
function quoted(text) {
  const plain = /^[A-Za-z_./$^(][^#:]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && text.trim() === text;
  return plain ? text : JSON.stringify(text);
}

/** Returns the types of the schemas, such as ["integer", "string"]. */
export function typesOf(schemas) {
  const types = schemas.flatMap((s) => s.type ?? (s.properties ? ['object'] : s.items ? ['array'] : []));
  if (schemas.some((s) => s['x-kubernetes-int-or-string'])) types.push('integer', 'string');
  return [...new Set(types)];
}

/**
 * Returns what a reader needs to know about a node.
 * @param {object[]} schemas
 * @returns {{type: string, description: string, facts: string[]}}
 */
export function describe(schemas) {
  const first = (name) => schemas.find((s) => s[name] !== undefined)?.[name];
  const facts = [];
  const fact = (name, label) => { if (first(name) !== undefined) facts.push(`${label}: ${JSON.stringify(first(name))}`); };
  fact('default', 'Default');
  const allowed = first('enum');
  if (allowed) facts.push('One of: ' + allowed.map((v) => JSON.stringify(v)).join(', '));
  fact('minimum', 'Minimum');
  fact('maximum', 'Maximum');
  fact('pattern', 'Pattern');
  if (first('deprecated')) facts.push('Deprecated');
  return {type: typesOf(schemas).join(' or '), description: first('description') ?? '', facts};
}
