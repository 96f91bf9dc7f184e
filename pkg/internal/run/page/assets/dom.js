// Elements, icons and small controls. Nothing here reads HTML: every text of an
// object is text of somebody else.

/**
 * Creates an element. Functions become listeners, strings become text.
 * @param {string} tag
 * @param {object} [props] attributes; `onclick: f` adds a listener
 * @param {...(Node|string|null|undefined|false|Array)} children
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

/** @returns {HTMLElement} */
export const byId = (id) => document.getElementById(id);

const paths = {
  done: 'M3.5 8.5l3 3 6-7',
  failed: 'M4 4l8 8M12 4l-8 8',
  skipped: 'M4 8h8',
  lost: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M4.3 4.3l7.4 7.4',
  running: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  event: 'M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z',
  action: 'M4 2.5l8.5 5.2-3.8.9 2.2 4.2-1.7.9-2.2-4.3L4 12z',
  note: 'M8 7v5M8 4v.5',
  retried: 'M13 8a5 5 0 1 1-1.500-3.500M13 2v3h-3',
  chevron: 'M6 4l4 4-4 4',
  close: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  sun: 'M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.500 6.500z',
};

/** Returns an icon. Its meaning must also be in a text or a label. */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'icon-' + name);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}

/** Sets a text only if it differs, which saves layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function button(label, onclick, props = {}) {
  return h('button', {type: 'button', class: 'button small', onclick, ...props}, label);
}

/**
 * Shows a message. Errors stay until somebody closes them, or until the next
 * message about the same subject.
 */
export function toast(text, kind = 'info', subject = text) {
  const close = h('button', {type: 'button', class: 'button icon', 'aria-label': 'Close message'}, icon('close'));
  const element = h('div', {class: 'toast ' + kind, role: kind === 'bad' ? 'alert' : null, 'data-test': 'toast', 'data-subject': subject},
    h('span', {}, text), close);
  close.addEventListener('click', () => element.remove());
  const toasts = byId('toasts');
  [...toasts.children].filter((t) => t.dataset.subject === subject).forEach((t) => t.remove());
  toasts.append(element);
  while (toasts.childElementCount > 4) toasts.firstChild.remove();
  if (kind !== 'bad') setTimeout(() => element.remove(), 4000);
}

/** Returns a listener that shows the error of the function. */
export function guarded(action) {
  return async (...args) => {
    try {
      return await action(...args);
    } catch (error) {
      toast(error.message, 'bad');
      return undefined;
    }
  };
}

/** Returns the function, called once after it was not asked for some time. */
export function debounced(action, delay) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), delay);
  };
}

export async function copy(text, what) {
  await navigator.clipboard.writeText(text);
  toast(`Copied ${what}`);
}

const parts = {hour: '2-digit', minute: '2-digit', second: '2-digit'};
const clock = new Intl.DateTimeFormat('en-GB', parts);
const exactClock = new Intl.DateTimeFormat('en-GB', {...parts, fractionalSecondDigits: 3});

/** Returns the local time of day, with milliseconds if it is exact. */
export function time(iso, exact = false) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : (exact ? exactClock : clock).format(date);
}

/** @param {number} ms */
export function duration(ms) {
  if (!ms) return '';
  if (ms >= 10_000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
}

export function count(n, one, many = one + 's') {
  return `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;
}

/** Returns kind, namespace and name in one line. */
export function reference({kind, namespace, name}) {
  return `${kind} ${namespace ? namespace + '/' : ''}${name}`;
}

/** Gives the tabs of a list roving focus; arrow keys, Home and End choose. */
export function tabKeys(list) {
  list.addEventListener('keydown', (event) => {
    const tabs = [...list.querySelectorAll('[role=tab]')].filter((t) => t.offsetParent);
    const at = tabs.indexOf(event.target.closest('[role=tab]'));
    const next = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1}[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    const tab = tabs[(next + tabs.length) % tabs.length];
    tab.focus();
    tab.click();
  });
}

/** Marks the chosen tab. */
export function markTab(list, chosen) {
  for (const tab of list.querySelectorAll('[role=tab]')) {
    const own = tab === chosen;
    tab.setAttribute('aria-selected', own);
    tab.tabIndex = own ? 0 : -1;
  }
}

/**
 * Makes an element move a border between panes, by pointer and arrow keys.
 * @param {HTMLElement} element
 * @param {{label: string, property: string, min: number, max: () => number, initial: number, sign: 1|-1}} options
 */
export function splitter(element, {label, property, min, max, initial, sign}) {
  let size = Number(localStorage.getItem(property)) || initial;
  const apply = (value) => {
    size = Math.round(Math.max(min, Math.min(max(), value)));
    document.body.style.setProperty(property, size + 'px');
    element.setAttribute('aria-valuenow', size);
    localStorage.setItem(property, size);
  };
  const attributes = {
    role: 'separator', 'aria-orientation': 'vertical', 'aria-label': label, tabindex: 0,
    'aria-valuemin': min, 'aria-valuemax': Math.round(max()),
  };
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.addEventListener('pointerdown', (down) => {
    const start = size;
    const move = (event) => apply(start + sign * (event.clientX - down.clientX));
    element.setPointerCapture(down.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', () => element.removeEventListener('pointermove', move), {once: true});
  });
  element.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -24, ArrowRight: 24}[event.key];
    if (!step) return;
    event.preventDefault();
    apply(size + sign * step);
  });
  apply(size);
}
