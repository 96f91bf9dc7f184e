// The YAML editor of the page: CodeMirror with findings, completion and hover.
import {acceptCompletion, autocompletion, startCompletion} from '@codemirror/autocomplete';
import {indentWithTab} from '@codemirror/commands';
import {yaml} from '@codemirror/lang-yaml';
import {HighlightStyle, indentService, indentUnit, syntaxHighlighting} from '@codemirror/language';
import {forceLinting, linter, lintGutter, setDiagnostics} from '@codemirror/lint';
import {EditorState, Text} from '@codemirror/state';
import {EditorView, hoverTooltip, keymap} from '@codemirror/view';
import {tags} from '@lezer/highlight';
import {basicSetup} from 'codemirror';
import {complete, explain} from './complete.js';
import {indentAfter} from './position.js';

export {templateAt} from './template.js';

/** @typedef {{line: number, column: number, severity: string, code: string, message: string, hint?: string}} Finding */

// The variables are those of page.css, so a change of the theme needs nothing here.
const theme = EditorView.theme({
  '&': {height: '100%', fontSize: 'var(--code-size)', backgroundColor: 'var(--surface)', color: 'var(--text)'},
  '&.cm-focused': {outline: 'none'},
  '.cm-scroller': {fontFamily: 'var(--mono)', lineHeight: '1.5'},
  '.cm-content': {caretColor: 'var(--text)'},
  '.cm-cursor': {borderLeftColor: 'var(--text)'},
  '.cm-gutters': {backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none'},
  '.cm-activeLine, .cm-activeLineGutter': {backgroundColor: 'var(--row-hover)'},
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {backgroundColor: 'var(--text-selection)'},
  '.cm-selectionMatch': {backgroundColor: 'var(--text-selection)'},
  '&.cm-focused .cm-matchingBracket': {backgroundColor: 'var(--text-selection)'},
  '.cm-foldPlaceholder': {backgroundColor: 'var(--sunken)', color: 'var(--muted)', border: 'none', padding: '0 .4em'},
  '.cm-tooltip': {backgroundColor: 'var(--surface)', color: 'var(--text)',
    border: '1px solid var(--border-strong)', borderRadius: '6px', boxShadow: 'var(--shadow)'},
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {backgroundColor: 'var(--accent)', color: 'var(--on-accent)'},
  '.cm-tooltip-autocomplete > ul': {fontFamily: 'var(--mono)', fontSize: '12px'},
  '.cm-completionDetail': {fontStyle: 'normal', opacity: '.8'},
  '.cm-completionInfo': {padding: '8px 10px', maxWidth: '340px', fontSize: '13px'},
  '.cm-about': {padding: '8px 10px', maxWidth: '420px', fontSize: '13px', whiteSpace: 'pre-line'},
  '.cm-about-facts': {fontFamily: 'var(--mono)', fontSize: '12px', color: 'var(--muted)', marginTop: '4px', overflowWrap: 'anywhere'},
  '.cm-diagnostic': {fontSize: '13px', whiteSpace: 'pre-line'},
  '.cm-diagnostic-error': {borderLeftColor: 'var(--bad)'},
  '.cm-diagnostic-warning': {borderLeftColor: 'var(--warn)'},
  '.cm-panels': {backgroundColor: 'var(--sunken)', color: 'var(--text)', borderColor: 'var(--border)'},
  '.cm-textfield, .cm-button': {background: 'var(--surface)', color: 'var(--text)',
    border: '1px solid var(--border-strong)', borderRadius: '4px'},
  '.cm-searchMatch': {backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)'},
});

const colors = HighlightStyle.define([
  {tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syntax-key)'},
  {tag: tags.string, color: 'var(--syntax-string)'},
  {tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic'},
  {tag: [tags.meta, tags.keyword, tags.labelName, tags.typeName], color: 'var(--syntax-meta)'},
  {tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--muted)'},
]);

/** Returns an element that describes a node of the schema. Texts are of others: no HTML. */
function card({type, description, facts}) {
  const add = (parent, className, text) => {
    const element = document.createElement('div');
    element.className = className;
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const root = document.createElement('div');
  root.className = 'cm-about';
  if (description) add(root, '', description);
  for (const line of [type && 'Type: ' + type, ...facts].filter(Boolean)) add(root, 'cm-about-facts', line);
  return root;
}

/** Inserts a completion; one that opens a block asks for the next completion. */
function applied(option) {
  return (view, _completion, from, to) => {
    view.dispatch({changes: {from, to, insert: option.apply},
      selection: {anchor: from + option.apply.length}, userEvent: 'input.complete'});
    if (option.apply !== option.label) startCompletion(view);
  };
}

function completionSource(schemaOf) {
  return async (context) => {
    const text = context.state.doc.toString();
    const word = context.matchBefore(/[\w.$/-]+/);
    if (!word && !context.explicit && !/[\n:\-{,]\s*$/.test(context.state.sliceDoc(Math.max(0, context.pos - 80), context.pos)))
      return null;
    const at = await schemaOf(text, context.pos).catch(() => null);
    const found = at && !context.aborted && complete(at.schema, text, context.pos, at.skip);
    if (!found) return null;
    return {
      from: found.from,
      validFor: /^[\w.$/-]*$/,
      options: found.options.map((o) => ({
        label: o.label, detail: o.detail, boost: o.boost, type: o.about ? 'property' : 'enum',
        info: o.about && (o.about.description || o.about.facts.length) ? () => card(o.about) : undefined,
        apply: applied(o),
      })),
    };
  };
}

function hover(schemaOf) {
  return hoverTooltip(async (view, pos) => {
    const text = view.state.doc.toString();
    const at = await schemaOf(text, pos).catch(() => null);
    const found = at && explain(at.schema, text, pos, at.skip);
    if (!found) return null;
    return {pos: found.from, end: found.to, above: true, create: () => ({dom: card(found.about)})};
  });
}

/** Returns the smallest change from one text to another. */
function change(old, text) {
  let from = 0;
  while (from < old.length && old[from] === text[from]) from++;
  let same = 0; // characters at the end
  while (same < Math.min(old.length, text.length) - from && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
  return {from, to: old.length - same, insert: text.slice(from, text.length - same)};
}

/** Returns the range that a finding underlines: the rest of its word, or its line. */
function range(doc, finding) {
  if (!finding.line || finding.line > doc.lines) return {from: 0, to: Math.min(doc.length, doc.line(1).to)};
  const line = doc.line(finding.line);
  const from = Math.min(line.from + Math.max(0, finding.column - 1), line.to);
  const start = finding.column ? from : line.from + (line.text.length - line.text.trimStart().length);
  const word = doc.sliceString(start, line.to).match(/^[^\s:,\]}]+/);
  return {from: start, to: word ? start + word[0].length : line.to};
}

function diagnostic(doc, finding) {
  const message = finding.hint ? `${finding.message}\n${finding.hint}` : finding.message;
  return {...range(doc, finding), severity: finding.severity, source: finding.code, message};
}

/**
 * Creates an editor.
 * @param {HTMLElement} parent
 * @param {object} options
 * @param {string} options.doc
 * @param {string} options.label accessible name
 * @param {boolean} [options.readOnly]
 * @param {(text: string) => void} options.onChange
 * @param {() => void} options.onSave
 * @param {(text: string) => Promise<Finding[]>} options.check called some time after a change
 * @param {(text: string, offset: number) => Promise<{schema: object, skip: number}|null>} options.schema JSON Schema that
 *   applies at an offset, and how many segments of the path there lead to its object
 */
export function createEditor(parent, {doc, label, readOnly = false, onChange, onSave, check, schema}) {
  const save = () => { onSave(); return true; };
  const view = new EditorView({
    parent,
    doc,
    extensions: [
      keymap.of([{key: 'Mod-s', run: save, preventDefault: true}, {key: 'Mod-Enter', run: save}, {key: 'Tab', run: acceptCompletion},
        indentWithTab]),
      basicSetup, yaml(), indentUnit.of('  '), indentService.of((context, pos) => indentAfter(context.lineAt(pos, -1).text)),
      theme, syntaxHighlighting(colors),
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({'aria-label': label}),
      autocompletion({override: [completionSource(schema)], icons: false}),
      hover(schema),
      lintGutter(),
      linter(async (v) => {
        const state = v.state;
        const findings = await check(state.doc.toString());
        return findings.map((f) => diagnostic(state.doc, f));
      }, {delay: 400}),
      EditorView.updateListener.of((u) => { if (u.docChanged) onChange(u.state.doc.toString()); }),
    ],
  });
  return {
    text: () => view.state.doc.toString(),
    /** Replaces the text. The cursor stays in its line and column, and the text around the change in its place. */
    setText(text) {
      const {doc: old, selection} = view.state;
      const line = old.lineAt(selection.main.head);
      const now = Text.of(text.split('\n'));
      const target = now.line(Math.min(line.number, now.lines));
      const anchor = Math.min(target.from + selection.main.head - line.from, target.to);
      view.dispatch({changes: change(old.toString(), text), selection: {anchor}});
    },
    /** Shows findings that came with an answer to something other than check. */
    show(findings) {
      view.dispatch(setDiagnostics(view.state, findings.map((f) => diagnostic(view.state.doc, f))));
    },
    check: () => forceLinting(view),
    goTo(line, column) {
      const {from} = range(view.state.doc, {line, column});
      view.dispatch({selection: {anchor: from}, effects: EditorView.scrollIntoView(from, {y: 'center'})});
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
