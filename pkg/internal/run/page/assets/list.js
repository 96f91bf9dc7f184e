// A list that has elements for its visible rows only.

let lists = 0;

/**
 * @template Row
 */
export class List {
  /**
   * @param {HTMLElement} scroller gets the focus
   * @param {object} options
   * @param {string} options.label
   * @param {'tree'|'listbox'} options.role
   * @param {number} options.height of a row in pixels
   * @param {(row: Row) => string|number} options.key
   * @param {() => HTMLElement} options.create an empty row
   * @param {(element: HTMLElement, row: Row) => void} options.update
   * @param {(row: Row, event: Event|null) => void} options.choose the active row changed
   * @param {(row: Row, event: Event) => void} [options.open] Enter or double click
   * @param {(row: Row, event: KeyboardEvent) => boolean|void} [options.keydown] true: handled
   */
  constructor(scroller, options) {
    this.scroller = scroller;
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    this.index = null; // key → index, made when somebody asks
    this.active = null; // key
    this.elements = new Map();
    this.spare = [];
    this.id = 'list' + lists++;
    this.inner = document.createElement('div');
    this.inner.className = 'list-inner';
    this.inner.setAttribute('role', 'presentation');
    scroller.append(this.inner);
    scroller.tabIndex = 0;
    scroller.setAttribute('role', options.role);
    scroller.setAttribute('aria-label', options.label);
    scroller.addEventListener('scroll', () => this.render(), {passive: true});
    scroller.addEventListener('click', (event) => this.clicked(event));
    scroller.addEventListener('dblclick', (event) => this.clicked(event, true));
    scroller.addEventListener('keydown', (event) => this.pressed(event));
    new ResizeObserver(() => this.render()).observe(scroller);
  }

  /** Replaces the rows. @param {Row[]} rows */
  set(rows) {
    this.rows = rows;
    this.index = null;
    this.inner.style.height = rows.length * this.options.height + 'px';
    this.render();
  }

  render() {
    const {height, key, role, update} = this.options;
    const {scrollTop, clientHeight} = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / height) - 4);
    const last = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / height) + 4);
    const visible = this.rows.slice(first, last);
    const wanted = new Set(visible.map(key));
    for (const [k, element] of this.elements) {
      if (wanted.has(k)) continue;
      this.elements.delete(k);
      element.remove();
      this.spare.push(element);
    }
    visible.forEach((row, i) => {
      const k = key(row);
      const element = this.elements.get(k) ?? this.element(k);
      element.style.transform = `translateY(${(first + i) * height}px)`;
      element.setAttribute('aria-selected', k === this.active);
      element.row = row;
      if (role === 'listbox') {
        element.setAttribute('aria-posinset', first + i + 1);
        element.setAttribute('aria-setsize', this.rows.length);
      }
      update(element, row);
    });
    const chosen = this.elements.get(this.active);
    if (chosen) this.scroller.setAttribute('aria-activedescendant', chosen.id);
    else this.scroller.removeAttribute('aria-activedescendant');
  }

  /** Returns the index of a key, or undefined. */
  find(key) {
    this.index ??= new Map(this.rows.map((row, i) => [this.options.key(row), i]));
    return this.index.get(key);
  }

  element(key) {
    const element = this.spare.pop() ?? this.options.create();
    element.id = `${this.id}-${key}`;
    this.elements.set(key, element);
    this.inner.append(element);
    return element;
  }

  /** Makes a row active, shows it and tells its user. */
  activate(key, event = null) {
    const at = this.find(key);
    if (at === undefined) return;
    this.active = key;
    this.reveal(at);
    this.render();
    this.options.choose(this.rows[at], event);
  }

  /** Marks a row as active without telling its user. */
  mark(key) {
    if (this.active === key) return;
    this.active = key;
    this.render();
  }

  reveal(at) {
    const {height} = this.options;
    const {scrollTop, clientHeight} = this.scroller;
    if (at * height < scrollTop) this.scroller.scrollTop = at * height;
    else if ((at + 1) * height > scrollTop + clientHeight) this.scroller.scrollTop = (at + 1) * height - clientHeight;
  }

  atEnd() {
    return this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - this.options.height;
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.render();
  }

  clicked(event, open = false) {
    const element = event.target.closest('.row');
    if (!element) return;
    if (open) this.options.open?.(element.row, event);
    else this.activate(this.options.key(element.row), event);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.rows.length === 0) return;
    const at = this.find(this.active) ?? -1;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.options.height) - 1);
    const moves = {
      ArrowDown: at + 1, ArrowUp: at < 0 ? this.rows.length - 1 : at - 1,
      PageDown: at + page, PageUp: at - page, Home: 0, End: this.rows.length - 1,
    };
    const row = this.rows[at];
    if (row && this.options.keydown?.(row, event)) event.preventDefault();
    else if (event.key in moves) {
      event.preventDefault();
      const next = Math.max(0, Math.min(this.rows.length - 1, moves[event.key]));
      this.activate(this.options.key(this.rows[next]), event);
    } else if (row && event.key === 'Enter') {
      event.preventDefault();
      this.options.open?.(row, event);
    }
  }
}
