import assert from 'node:assert/strict';
import {test} from 'node:test';
import {complete, explain} from './complete.js';
import {indentAfter, locate, nodeAt} from './position.js';

/** Splits a text at its cursor, written as ‸. */
function cursor(text) {
  const offset = text.indexOf('‸');
  return [text.replace('‸', ''), offset];
}

const where = (text) => {
  const {path, kind, typed, keys} = locate(...cursor(text));
  return {path: path.join('.'), kind, typed, keys};
};

const cases = [
  ['an empty document', '‸', '', 'key'],
  ['a key of the top', 'kind: A\nsp‸', '', 'key', 'sp'],
  ['a value', 'kind: Op‸', 'kind', 'value', 'Op'],
  ['a nested key', 'spec:\n  api:\n    gr‸', 'spec.api', 'key', 'gr'],
  ['an empty line with indentation', 'spec:\n  api:\n    kind: A\n    ‸', 'spec.api', 'key'],
  ['an empty line of the outer map', 'spec:\n  api:\n    kind: A\n  ‸', 'spec', 'key'],
  ['an item', 'a:\n- ‸', 'a.0', 'key'],
  ['the second item', 'a:\n- x: 1\n- y‸', 'a.1', 'key', 'y'],
  ['another key of the second item', 'a:\n- x: 1\n- y: 2\n  z‸', 'a.1', 'key', 'z'],
  ['an indented sequence', 'a:\n  - x: 1\n  - x: 2\n    b: ‸', 'a.1.b', 'value'],
  ['a map in an item', 'a:\n- x:\n    y‸', 'a.0.x', 'key', 'y'],
  ['a sequence in a sequence', 'a:\n- - ‸', 'a.0.0', 'key'],
  ['a key after a sequence of the same column', 'a:\n- x: 1\nb‸', '', 'key', 'b'],
  ['a key after a deeper map', 'a:\n  b:\n    c: 1\n  d:\n    ‸', 'a.d', 'key'],
  ['a flow map', 'a: {b‸', 'a', 'key', 'b'],
  ['a value in a flow map', 'a: {b: 1, c: d‸', 'a.c', 'value', 'd'],
  ['the next key in a flow map', 'a: {b: 1, ‸}', 'a', 'key'],
  ['a nested flow map', 'a: {b: {c: ‸', 'a.b.c', 'value'],
  ['a flow sequence', 'a: [x, y‸', 'a.1', 'value', 'y'],
  ['a flow map in an item', 'a:\n- {name: x, ‸', 'a.0', 'key'],
  ['a flow map in a flow sequence', 'a: [{b: 1}, {c‸', 'a.1', 'key', 'c'],
  ['an expression is no flow map', 'a: ${ .b‸', 'a', 'value', '${ .b'],
  ['a quoted key', '"a b":\n  c‸', 'a b', 'key', 'c'],
  ['a key with a slash', 'labels:\n  app.kubernetes.io/name: ‸', 'labels.app.kubernetes.io/name', 'value'],
  ['a value with a colon', 'image: a:b‸', 'image', 'value', 'a:b'],
  ['after a comment line', 'a:\n  # b:\n  c‸', 'a', 'key', 'c'],
  ['in a comment', 'a: 1 # b‸', '', 'none'],
  ['in a text block', 'a: |\n  b‸', '', 'none'],
  ['deeper in a text block', 'a: |\n  b\n    c: ‸', '', 'none'],
  ['after a text block', 'a: |\n  b\nc‸', '', 'key', 'c'],
  ['after a text block in an item', 'a:\n- run: |\n    x\n  na‸', 'a.0', 'key', 'na'],
  ['in the second document', 'a:\n  b: 1\n---\n‸', '', 'key'],
  ['behind a flow map', 'a: {b: 1} ‸', '', 'none'],
  ['in a quoted flow value', 'a: {b: "c, ‸', '', 'none'],
];
for (const [name, text, path, kind, typed = ''] of cases) {
  test(`locates ${name}`, () => {
    const at = where(text);
    assert.deepEqual([at.path, at.kind, at.typed], [path, kind, typed]);
  });
}

test('finds the keys of the same map only', () => {
  const {keys} = where('a:\n- x: 1\n- y: 2\n  ‸\n  z: 3\n- w: 4\nb: 1');
  assert.deepEqual(keys.sort(), ['y', 'z']);
  assert.deepEqual(where('a: {b: 1, ‸').keys, ['b']);
  assert.deepEqual(where('a: 1\n‸\nc:\n- d: 1\ne: 2').keys, ['a', 'c', 'e']);
});

test('indents the next line', () => {
  assert.equal(indentAfter('spec:'), 2);
  assert.equal(indentAfter('  run: |'), 4);
  assert.equal(indentAfter('  size: 3'), 2);
  assert.equal(indentAfter('  - name: web'), 4);
  assert.equal(indentAfter('  - web'), 4);
  assert.equal(indentAfter('- template: # of the child'), 4);
});

test('finds the node below the pointer', () => {
  assert.deepEqual(nodeAt(...cursor('spec:\n  si‸ze: 3')), {path: ['spec', 'size'], from: 8, to: 12});
  assert.deepEqual(nodeAt(...cursor('spec: {si‸ze: 3}')).path, ['spec', 'size']);
  assert.deepEqual(nodeAt(...cursor('a:\n- kind: Dep‸loyment')).path, ['a', 0, 'kind']);
  assert.equal(nodeAt(...cursor('# si‸ze: 3')), null);
});

const schema = {
  $ref: '#/$defs/Root',
  $defs: {
    Root: {
      type: 'object', required: ['kind'],
      properties: {
        kind: {type: 'string', enum: ['Operator'], description: 'Kind of the object.'},
        size: {type: 'integer', default: 3, minimum: 0},
        on: {type: 'boolean'},
        version: {type: 'string', enum: ['1', 'v2']},
        children: {type: 'array', items: {$ref: '#/$defs/Child'}},
        labels: {type: 'object', additionalProperties: {type: 'string', examples: ['web']}},
      },
    },
    Child: {anyOf: [{properties: {name: {type: 'string'}}}, {properties: {when: {type: 'string'}}}]},
  },
};
const labels = (text) => complete(schema, ...cursor(text))?.options.map((o) => o.label) ?? [];

test('completes keys that are missing', () => {
  assert.deepEqual(labels('kind: Operator\n‸'), ['size', 'on', 'version', 'children', 'labels']);
  assert.deepEqual(labels('children:\n- ‸'), ['name', 'when']);
  assert.deepEqual(labels('children:\n- name: a\n  ‸'), ['when']);
});

test('completes values', () => {
  assert.deepEqual(labels('kind: ‸'), ['Operator']);
  assert.deepEqual(labels('on: ‸'), ['true', 'false']);
  assert.deepEqual(labels('size: ‸'), ['3']);
  assert.deepEqual(labels('labels: {a: ‸'), ['web']);
});

test('quotes strings that look like numbers', () => assert.deepEqual(labels('version: ‸'), ['"1"', 'v2']));

test('indents what follows a key', () => {
  const applied = Object.fromEntries(complete(schema, ...cursor('‸')).options.map((o) => [o.label, o.apply]));
  assert.equal(applied.kind, 'kind: ');
  assert.equal(applied.children, 'children:\n- ');
  assert.equal(applied.labels, 'labels:\n  ');
});

test('completes nothing where the schema allows nothing', () => {
  assert.deepEqual(labels('unknown:\n  ‸'), []);
  assert.deepEqual(labels('kind: Operator # ‸'), []);
});

test('survives a schema that refers to itself', () => {
  const loop = {$ref: '#/$defs/A', $defs: {A: {properties: {a: {$ref: '#/$defs/A'}}, allOf: [{$ref: '#/$defs/A'}]}}};
  assert.deepEqual(complete(loop, ...cursor('a:\n  a:\n    ‸')).options.map((o) => o.label), ['a']);
});

test('explains a key', () => {
  const {about} = explain(schema, ...cursor('si‸ze: 3'));
  assert.deepEqual(about, {type: 'integer', description: '', facts: ['Default: 3', 'Minimum: 0']});
  assert.equal(explain(schema, ...cursor('unkn‸own: 3')), null);
});
