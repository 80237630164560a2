// Small helpers: elements are made of text alone, never of markup that came with data.

/**
 * @typedef {Node | string | undefined | false} Child
 */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {{ readonly [attribute: string]: string | number | boolean | undefined }} [attributes] false and undefined leave one out
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  set(element, attributes);
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

/**
 * @param {Element} element
 * @param {{ readonly [attribute: string]: string | number | boolean | undefined }} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Of the page itself.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Writes a text only if it is another: a live region would say it again.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
