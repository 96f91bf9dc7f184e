// Tests of modules of the page that need no browser.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {differences} from '../assets/json.js';
import {rebase} from '../assets/rebase.js';

const object = ({version = 1, size = 1, ready = 1, note = ''} = {}) => `apiVersion: example.com/v1
kind: Web
metadata:
  name: shop
  resourceVersion: "${version}"
spec:
  size: ${size}
${note}status:
  children:
    web:
      resourceVersion: "${ready}"
  conditions:
  - message: |-
      ready

      since then
    type: Ready
  ready: ${ready}
`;

test('rebase takes the version and the status of the newer text', () => {
  assert.equal(rebase(object({size: 5}), object(), object({version: 2, ready: 3})), object({size: 5, version: 2, ready: 3}));
});

test('rebase keeps what somebody writes around the status', () => {
  const note = '# mine\nextra: 1\n';
  assert.equal(rebase(object({note}), object(), object({version: 2, ready: 3})), object({note, version: 2, ready: 3}));
});

test('rebase gives up if the object changed otherwise', () => {
  assert.equal(rebase(object({size: 5}), object(), object({version: 2, size: 3})), null);
});

test('rebase does not interpret the newer text as a pattern', () => {
  const newer = object({version: '$1'}).replace('message: |-', 'message: $& |-');
  assert.equal(rebase(object({size: 5}), object(), newer), newer.replace('size: 1', 'size: 5'));
});

const cases = [
  ['nothing', {a: 1}, {a: 1}, []],
  ['a value', {a: 1}, {a: 2}, [['.a', 1, 2]]],
  ['a deep value', {a: {b: {c: 1, d: 1}}}, {a: {b: {c: 2, d: 1}}}, [['.a.b.c', 1, 2]]],
  ['an item', {a: [1, 2]}, {a: [1, 3]}, [['.a[1]', 2, 3]]],
  ['a shorter list', {a: [1, 2]}, {a: [1]}, [['.a[1]', 2, undefined]]],
  ['a new key', {}, {a: {b: 1}}, [['.a', undefined, {b: 1}]]],
  ['a key that is gone', {a: 1}, {}, [['.a', 1, undefined]]],
  ['another type', {a: {b: 1}}, {a: [1]}, [['.a', {b: 1}, [1]]]],
  ['null', {a: null}, {a: {}}, [['.a', null, {}]]],
  ['a key with dots', {'a.b/c': 1}, {'a.b/c': 2}, [['["a.b/c"]', 1, 2]]],
  ['the whole', 1, 2, [['.', 1, 2]]],
];

for (const [name, old, now, want] of cases) {
  test('differences: ' + name, () => {
    assert.deepEqual(differences(old, now).map((d) => [d.path, d.old, d.now]), want);
  });
}
