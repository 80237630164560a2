// What is selected, and the panel beside the tables that says why it is as it is. It stands in the address: it can be sent to
// somebody, and Back goes back.
import { details } from "./data.js";
import { byId, make } from "./dom.js";
import { nodeView, volumeView } from "./panel.js";

/** @typedef {{ kind: "volume" | "node", name: string }} Selection */

/**
 * @param {"volume" | "node"} kind
 * @param {string} name
 */
export function go(kind, name) {
  if (name !== "") location.hash = `${kind}/${name}`;
}

/** @returns {Selection | undefined} */
function selection() {
  const [, kind, name] = /^#(volume|node)\/([a-z0-9][a-z0-9.-]*)$/.exec(location.hash) ?? [];
  if ((kind !== "volume" && kind !== "node") || name === undefined) return undefined;
  return { kind, name };
}

/**
 * @param {(selection: Selection | undefined, node: string | undefined) => void} onSelected told of what is shown, and of its node
 * @param {(closed: Selection) => void} onClosed somebody has closed it, and wants to be where he was
 */
export function createAside(onSelected, onClosed) {
  const panel = byId("panel");
  /** What it shows, and its details as they came. */
  let shown = { hash: "", text: "" };

  /** @param {boolean} [focus] */
  async function refresh(focus = false) {
    const chosen = selection();
    if (chosen === undefined) {
      panel.hidden = true;
      shown = { hash: "", text: "" };
      onSelected(undefined, undefined);
      return;
    }
    const { hash } = location;
    const { view, text, node } = await read(chosen);
    if (location.hash !== hash) return; // somebody has gone on meanwhile
    const again = shown.hash === hash;
    // What is read again and again stays as it is: whoever is in it keeps his place.
    if (!again || text !== shown.text) {
      const open = again && panel.querySelector("details")?.open === true;
      const held = panel.contains(document.activeElement);
      const { scrollTop } = panel;
      panel.replaceChildren(...view.filter((child) => child !== undefined && child !== false));
      panel.hidden = false;
      if (open) panel.querySelector("details")?.setAttribute("open", "");
      panel.scrollTop = again ? scrollTop : 0;
      if (held) byId("panel-title").focus({ preventScroll: true });
    }
    if (focus) byId("panel-title").focus({ preventScroll: again });
    shown = { hash, text };
    onSelected(chosen, node);
  }

  /**
   * @param {Selection} chosen
   * @returns {Promise<{ view: import("./dom.js").Child[], text: string, node: string | undefined }>}
   */
  async function read({ kind, name }) {
    const closed = (/** @type {string} */ text) => ({ view: [heading(text)], text, node: undefined });
    try {
      const found = await details(kind === "volume" ? "volumes" : "nodes", name);
      if (found === undefined) return closed(`There is no ${kind} ${name} any more`);
      const view = kind === "volume" ? volumeView(found) : nodeView(found);
      return { view, text: JSON.stringify(found), node: kind === "volume" ? found.node : name };
    } catch (error) {
      return closed(`It could not be read: ${error instanceof Error ? error.message : error}`);
    }
  }

  function close() {
    const chosen = selection();
    history.pushState(null, "", location.pathname);
    void refresh();
    if (chosen !== undefined) onClosed(chosen);
  }

  panel.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".close")) close();
  });
  addEventListener("hashchange", () => void refresh(true));
  addEventListener("popstate", () => {
    if (selection() === undefined) void refresh();
  });
  if (selection() !== undefined) void refresh();
  return {
    refresh: () => void refresh(),
    /** @returns {boolean} whether there was one to close */
    close() {
      if (panel.hidden) return false;
      close();
      return true;
    },
  };
}

/** @param {string} text */
function heading(text) {
  const button = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  return make("div", { class: "title" }, make("h2", { id: "panel-title", tabindex: -1 }, text), button);
}
