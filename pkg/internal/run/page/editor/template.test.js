import assert from 'node:assert/strict';
import {test} from 'node:test';
import {complete, explain} from './complete.js';
import {templateAt} from './template.js';

/** Splits a text at its cursor, written as ‸. */
function cursor(text) {
  const offset = text.indexOf('‸');
  return [text.replace('‸', ''), offset];
}

/** Returns the kind of the template around the cursor. */
function kindAt(text) {
  const found = templateAt(...cursor(text));
  return found && `${found.apiVersion} ${found.kind}`;
}

/** Returns a definition whose fields of the Deployment are the lines. */
const definition = (...lines) => `apiVersion: argoperator.dev/v1alpha1
kind: Operator
spec:
  api: {group: example.com, kind: Web}
  children:
  - name: config
    template:
      apiVersion: v1
      kind: ConfigMap
  - name: web
    template:
      apiVersion: apps/v1
      kind: "Deployment"
      metadata:
        ownerReferences:
        - {apiVersion: v1, kind: Node}
${lines.map((l) => '      ' + l).join('\n')}
  - name: site
    template:
      apiVersion: example.com/v1
      kind: Site
`;

const cases = [
  ['the template of the cursor', definition('spec:', '  ‸'), 'apps/v1 Deployment'],
  ['the top of the template', definition('s‸'), 'apps/v1 Deployment'],
  ['the outer template', definition('spec:', '  template:', '    kind: Pod', '    spec:', '      ‸'), 'apps/v1 Deployment'],
  ['the template of the first child', definition().replace('kind: ConfigMap', '$&\n      ‸'), 'v1 ConfigMap'],
  ['a custom kind', definition().replace('kind: Site', '$&\n      spec:\n        ‸'), 'example.com/v1 Site'],
  ['a kind below the cursor', 'spec:\n  children:\n  - template:\n      spec:\n        ‸\n      kind: Pod\n      apiVersion: v1',
    'v1 Pod'],
  ['a template in flow style', "spec:\n  children:\n  - template: {apiVersion: v1, kind: 'Service', spec: {‸}}", 'v1 Service'],
  ['a child in flow style', 'spec:\n  children:\n  - {name: a, template: {apiVersion: v1, kind: Service, ‸}}', 'v1 Service'],
  ['a template of patches', 'spec:\n  patches:\n  - template:\n      apiVersion: v1\n      kind: Node\n      ‸', 'v1 Node'],
  ['only the kind of the same document',
    'spec:\n  children:\n  - template:\n      kind: Pod\n      ‸\n---\nspec:\n  children:\n  - template:\n      apiVersion: v2', null],
  ['no kind that is an expression',
    'spec:\n  children:\n  - template:\n      apiVersion: v1\n      kind: ${ .spec.kind }\n      ‸', null],
  ['no kind that is a comment', 'spec:\n  children:\n  - template:\n      apiVersion: v1\n      # kind: Pod\n      ‸', null],
  ['no kind that somebody still types', 'spec:\n  children:\n  - template:\n      apiVersion: v1\n      kind: Po‸', null],
  ['nothing without a kind', 'spec:\n  children:\n  - template:\n      apiVersion: v1\n      ‸', null],
  ['nothing on the key of the template', definition().replace('template:', 'temp‸late:'), null],
  ['nothing outside of a template', definition().replace('name: web', 'name: web\n    ‸'), null],
];
for (const [name, text, want] of cases) {
  test(`finds ${name}`, () => assert.equal(kindAt(text), want));
}

const deployment = {
  properties: {
    kind: {type: 'string'},
    spec: {
      properties: {
        replicas: {type: 'integer', description: 'Number of Pods.'},
        template: {properties: {spec: {properties: {nodeName: {type: 'string'}}}}},
      },
    },
  },
};

test('completes the fields of the template', () => {
  const labels = (...lines) => {
    const [text, offset] = cursor(definition(...lines));
    return complete(deployment, text, offset, templateAt(text, offset).depth)?.options.map((o) => o.label);
  };
  assert.deepEqual(labels('s‸'), ['spec']);
  assert.deepEqual(labels('spec:', '  rep‸'), ['replicas', 'template']);
  assert.deepEqual(labels('spec:', '  template:', '    spec:', '      ‸'), ['nodeName']);
  assert.deepEqual(labels('spec: {replicas: 1, ‸}'), ['template']);
});

test('explains a field of the template', () => {
  const [text, offset] = cursor(definition('spec:', '  repli‸cas: 1'));
  const {about} = explain(deployment, text, offset, templateAt(text, offset).depth);
  assert.equal(about.description, 'Number of Pods.');
});
