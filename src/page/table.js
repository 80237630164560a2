// A table of any length: only the rows that are seen are in the document. One row at a time can be reached by Tab, the others by
// arrows; what is left out is counted for screen readers.
import { make, set } from "./dom.js";

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {string} name of its class
 * @property {(row: T) => import("./dom.js").Child[]} of
 */

/**
 * @template T
 * @param {HTMLElement} place
 * @param {{ titleId: string, height: number, most: number, columns: readonly Column<T>[], keyOf: (row: T) => string, stateOf: (row: T) => string | undefined, open: (row: T) => void }} how
 */
export function createTable(place, { titleId, height, most, columns, keyOf, stateOf, open }) {
  /** @type {readonly T[]} */
  let rows = [];
  /** Key of the row that Tab reaches. */
  let current = "";
  let selected = "";
  const body = make("tbody");
  const head = make(
    "tr",
    { "aria-rowindex": 1 },
    ...columns.map(({ title, name }) => make("th", { scope: "col", class: name }, title)),
  );
  const table = make("table", { role: "grid", "aria-labelledby": titleId }, make("thead", {}, head), body);
  const scroller = make("div", { class: "scroller" }, table);
  place.append(scroller);

  const shownRows = () => Math.max(1, Math.ceil(scroller.clientHeight / height));
  const placeOf = (/** @type {string} */ key) => rows.findIndex((row) => keyOf(row) === key);

  /** @param {boolean} [focus] puts the focus on the current row */
  function draw(focus = false) {
    const focused = focus || body.contains(document.activeElement);
    const from = Math.max(0, Math.floor(scroller.scrollTop / height) - 5);
    const to = Math.min(rows.length, from + Math.min(shownRows(), most) + 10);
    const at = placeOf(current);
    if (at < 0) current = rows[0] === undefined ? "" : keyOf(rows[0]);
    /** @type {HTMLElement[]} */
    const made = [];
    let wanted = Math.max(0, at);
    // The current row stays in the document, wherever one has scrolled to: Tab must find it.
    const places = Array.from({ length: to - from }, (_, index) => from + index);
    if (rows.length > 0 && (wanted < from || wanted >= to)) {
      if (wanted < from) places.unshift(wanted);
      else places.push(wanted);
    } else wanted = -1;
    let bottom = 0;
    for (const index of places) {
      if (index > bottom) made.push(space(index - bottom));
      const row = /** @type {T} */ (rows[index]);
      made.push(rowOf(row, index));
      bottom = index + 1;
    }
    if (bottom < rows.length) made.push(space(rows.length - bottom));
    body.replaceChildren(...made);
    set(table, { "aria-rowcount": rows.length + 1 });
    if (focused) currentRow()?.focus({ preventScroll: true });
  }

  /** @param {number} count */
  function space(count) {
    const cell = make("td", { colspan: columns.length });
    cell.style.height = `${count * height}px`;
    return make("tr", { class: "space", "aria-hidden": "true", role: "presentation" }, cell);
  }

  /**
   * @param {T} row
   * @param {number} index
   */
  function rowOf(row, index) {
    const key = keyOf(row);
    const attributes = {
      tabindex: key === current ? 0 : -1,
      "data-key": key,
      "data-state": stateOf(row),
      "aria-rowindex": index + 2,
      "aria-selected": key === selected ? "true" : "false",
    };
    const element = make("tr", attributes, ...columns.map(({ name, of }) => make("td", { class: name }, ...of(row))));
    element.style.height = `${height}px`;
    return element;
  }

  function currentRow() {
    return /** @type {HTMLElement | null} */ (body.querySelector('tr[tabindex="0"]'));
  }

  /** @param {number} to */
  function go(to) {
    const at = Math.max(0, Math.min(rows.length - 1, to));
    const row = rows[at];
    if (row === undefined) return;
    current = keyOf(row);
    const top = at * height;
    const room = scroller.clientHeight - head.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + height > scroller.scrollTop + room) scroller.scrollTop = top + height - room;
    draw(true);
  }

  /** @param {EventTarget | null} target */
  function rowAt(target) {
    const key = target instanceof Element ? target.closest("tr[data-key]")?.getAttribute("data-key") : undefined;
    return key === null || key === undefined ? undefined : rows[placeOf(key)];
  }

  scroller.addEventListener("scroll", () => draw(), { passive: true });
  body.addEventListener("click", ({ target }) => {
    const row = rowAt(target);
    if (row === undefined) return;
    current = keyOf(row);
    draw(true);
    open(row);
  });
  body.addEventListener("keydown", (event) => {
    const at = placeOf(current);
    /** @type {{ readonly [key: string]: number }} */
    const steps = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: at + shownRows() - 2,
      PageUp: at - shownRows() + 2,
    };
    const to = steps[event.key];
    const row = rows[at];
    if (to !== undefined) go(to);
    else if ((event.key === "Enter" || event.key === " ") && row !== undefined) open(row);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => draw()).observe(scroller);

  return {
    /** @param {readonly T[]} next */
    show(next) {
      rows = next;
      scroller.hidden = rows.length === 0;
      scroller.style.maxHeight = `${Math.min(rows.length, most) * height + 40}px`;
      draw();
    },
    redraw: () => draw(),
    /** @param {string} key "" of none */
    select(key) {
      selected = key;
      draw();
    },
    /** Back to where one was. */
    focus() {
      if (currentRow() === null) draw();
      currentRow()?.focus();
    },
    has: (/** @type {string} */ key) => placeOf(key) >= 0,
  };
}
