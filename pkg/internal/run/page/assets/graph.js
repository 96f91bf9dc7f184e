// The event flow as a live graph: the SVG of the server, whose nodes and edges
// light up as records arrive.
import {byId, count, h, markTab, setText, tabKeys} from './dom.js';
import {changed, on, selectedUID, session} from './store.js';

const step = 110; // milliseconds between two nodes
const glow = 700; // milliseconds until a node fades
const calm = matchMedia('(prefers-reduced-motion: reduce)');

let shown = ''; // operator
let source = ''; // its SVG, to draw it again only if it changed
/** @type {Map<string, SVGElement>} */ let nodes = new Map();
/** @type {Map<string, SVGPathElement>} "from to" → edge */ let edges = new Map();
/** @type {Map<string, number>} path → when it lit up last */ let busy = new Map();

const allowed = new Set(['svg', 'g', 'defs', 'marker', 'path', 'rect', 'circle', 'line', 'text', 'tspan', 'title', 'polygon', 'polyline']);
const attributes = new RegExp('^(d|x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|dx|dy|width|height|points|class|id|viewBox|transform|text-anchor|'
  + 'marker-(start|mid|end)|ref[XY]|marker(Width|Height)|orient|role|aria-[a-z]+|data-[a-z]+)$');

/**
 * Parses the SVG and keeps only what a drawing needs. Its style and colours go:
 * those of the page follow the theme.
 * @param {string} text
 * @returns {SVGSVGElement|null}
 */
export function parseGraph(text) {
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
  const svg = parsed.documentElement;
  if (svg.localName !== 'svg' || parsed.querySelector('parsererror')) return null;
  for (const element of [svg, ...svg.querySelectorAll('*')]) {
    if (!allowed.has(element.localName) || element.namespaceURI !== 'http://www.w3.org/2000/svg') element.remove();
    else for (const {name, value} of [...element.attributes]) {
      if (!attributes.test(name) || /url\((?!#)/i.test(value)) element.removeAttribute(name);
    }
  }
  return document.importNode(svg, true);
}

function draw() {
  const operators = session.state.operators;
  const operator = operators.find((o) => o.name === shown) ?? operators[0];
  shown = operator?.name ?? '';
  drawTabs(operators);
  setText(byId('flow-about'), operators.length > 1 ? `${operator.kind} · ${operator.engine}` : '');
  if ((operator?.graph ?? '') === source) return;
  source = operator?.graph ?? '';
  const svg = source && parseGraph(source);
  byId('graph').replaceChildren(svg || h('p', {class: 'empty'},
    operator ? 'The event flow cannot be drawn.' : 'No operator is loaded. Fix the findings of the definition.'));
  nodes = new Map();
  edges = new Map();
  busy = new Map();
  if (!svg) return;
  crop(svg);
  for (const g of svg.querySelectorAll('[data-node]')) for (const id of g.dataset.node.split(' ')) nodes.set(id, g);
  for (const path of svg.querySelectorAll('path[data-from]'))
    for (const from of path.dataset.from.split(' ')) for (const to of path.dataset.to.split(' ')) edges.set(`${from} ${to}`, path);
}

/** Drops the title, which the page shows above, and the margins. */
function crop(svg) {
  svg.querySelectorAll('.title, .ground').forEach((e) => e.remove());
  const {x, y, width, height} = svg.getBBox();
  const margin = 8;
  svg.setAttribute('viewBox', [x - margin, y - margin, width + 2 * margin, height + 2 * margin].join(' '));
  svg.removeAttribute('width');
  svg.removeAttribute('height');
  svg.style.setProperty('--natural', width + 2 * margin + 'px');
  svg.style.setProperty('--aspect', (width + 2 * margin) / (height + 2 * margin));
  // An edge that lights up is wider; its arrow must not grow with it.
  for (const marker of svg.querySelectorAll('marker')) {
    const own = {markerUnits: 'userSpaceOnUse', markerWidth: 10, markerHeight: 10};
    for (const [name, value] of Object.entries(own)) marker.setAttribute(name, value);
  }
}

function drawTabs(operators) {
  const list = byId('flow-tabs');
  list.hidden = operators.length < 2;
  if (list.childElementCount !== operators.length || operators.some((o, i) => list.children[i].dataset.operator !== o.name)) {
    list.replaceChildren(...operators.map((o) => h('button', {
      role: 'tab', type: 'button', 'data-operator': o.name, 'aria-controls': 'graph', 'data-test': 'flow-tab',
      onclick: () => show(o.name),
    }, o.name)));
  }
  markTab(list, [...list.children].find((t) => t.dataset.operator === shown));
}

function show(operator) {
  shown = operator;
  source = '';
  draw();
  drawSwitches();
  drawQueue();
}

/** Switched-off parts look switched off and say so. */
function drawSwitches() {
  const {sensorDown, loseEvents, refuse, conflict} = session.state.switches;
  for (const [id, g] of nodes) {
    const is = (role) => g.querySelector('rect.' + role) !== null;
    const refused = is('written') && (refuse ? 'refused: 503' : conflict ? 'conflict: 409' : '');
    const off = (is('sensor') && sensorDown && 'down') || (id === 'bus' && loseEvents && 'loses events') || refused;
    g.classList.toggle('off', Boolean(off));
    label(g, 'off-label', off || '', true);
  }
}

function drawQueue() {
  const bus = nodes.get('bus');
  if (bus) label(bus, 'queue-label', session.pending ? count(session.pending, 'event') + ' waiting' : '', false);
}

/** Writes a text on the upper border of a node or below it. */
function label(g, className, text, above) {
  let element = g.querySelector('.' + className);
  if (!element && !text) return;
  if (!element) {
    const rect = g.querySelector('rect');
    const [x, y, w, hgt] = ['x', 'y', 'width', 'height'].map((a) => Number(rect.getAttribute(a)));
    element = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    element.setAttribute('class', className);
    element.setAttribute('text-anchor', 'middle');
    element.setAttribute('x', x + w / 2);
    element.setAttribute('y', above ? y + 4 : y + hgt + 15);
    g.append(element);
  }
  setText(element, text);
}

/** Lights up the paths of the records of this frame, each path once. */
function lightUp() {
  const now = performance.now();
  for (const {record, first} of session.fresh) {
    if (!record.nodes?.length || (record.operator && record.operator !== shown)) continue;
    const bad = record.state === 'failed' || record.state === 'lost';
    const path = first ? full(record) : record.nodes.slice(-1); // it went the path when it began
    const key = path.join(' ') + bad;
    if (now - (busy.get(key) ?? -Infinity) < step) continue;
    busy.set(key, now);
    walk(path, bad);
  }
}

/** Returns the nodes of a record, from the node where its event ended. */
function full(record) {
  const cause = session.records.get(record.cause);
  const before = cause?.nodes?.at(-1);
  return before && edges.has(`${before} ${record.nodes[0]}`) ? [before, ...record.nodes] : record.nodes;
}

function walk(path, bad) {
  const wait = calm.matches ? 0 : step;
  path.forEach((id, i) => setTimeout(() => {
    // Only the end of a failed path is bad: what is before it did its work.
    const failed = bad && i === path.length - 1;
    light(nodes.get(id), failed);
    const edge = i > 0 && edges.get(`${path[i - 1]} ${id}`);
    if (edge) travel(edge, failed);
  }, i * wait));
}

/** Adds the class for a while; light again starts over. */
function light(element, bad) {
  if (!element) return;
  element.classList.add(bad ? 'failed' : 'lit');
  clearTimeout(element.fading);
  element.fading = setTimeout(() => element.classList.remove('lit', 'failed'), calm.matches ? 2 * glow : glow);
}

/** Lights an edge and moves a dot along it. */
function travel(edge, bad) {
  light(edge, bad);
  if (calm.matches || edge.dot) return;
  const dot = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
  dot.setAttribute('r', 4.5);
  dot.setAttribute('class', bad ? 'dot failed' : 'dot');
  dot.style.offsetPath = `path("${edge.getAttribute('d')}")`;
  edge.after(dot);
  edge.dot = dot;
  dot.animate([{offsetDistance: '0%'}, {offsetDistance: '100%'}], {duration: 2.5 * step, easing: 'ease-in-out'}).onfinish = () => {
    dot.remove();
    edge.dot = null;
  };
}

/** Returns the operator of an object: that of its custom resource. */
function operatorOf(object, depth = 0) {
  if (!object || object.operator || depth > 12) return object?.operator;
  return object.owners.map((u) => operatorOf(session.objects.get(u), depth + 1)).find(Boolean);
}

export function startGraph() {
  tabKeys(byId('flow-tabs'));
  on('state', () => { draw(); drawSwitches(); });
  on('queue state', drawQueue);
  on('records', lightUp);
  on('selection', () => {
    const operator = operatorOf(session.objects.get(selectedUID()));
    if (operator && operator !== shown) show(operator);
  });
  byId('flow-toggle').addEventListener('click', () => {
    const hidden = document.body.classList.toggle('no-graph');
    byId('flow-toggle').setAttribute('aria-expanded', !hidden);
    setText(byId('flow-toggle'), hidden ? 'Show' : 'Hide');
    changed('objects');
  });
}
