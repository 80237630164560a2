// "Why is it stuck?" in the controller's page: what the text names is linked, as far as this cluster has it.
import { find, whyTable } from "./data.js";
import { byId, make } from "./dom.js";
import { link, pill } from "./panel.js";
import { namesIn } from "./why.js";
import { createWhy } from "./why-view.js";

const mostVolumes = 5;

/** @param {() => readonly string[]} nodesOf names of the cluster's nodes */
export function createWhyHere(nodesOf) {
  const [section, opener, known] = [byId("why"), byId("why-open"), byId("why-known")];
  let asked = "";

  const why = createWhy({
    load: whyTable,
    onText: (text) => void showKnown(text),
    onFail: (error) => `It could not be read: ${error instanceof Error ? error.message : error}`,
  });

  /** @param {string} text */
  async function showKnown(text) {
    asked = text;
    const names = namesIn(text);
    const found = names.length === 0 ? undefined : await find({ names }).catch(() => undefined);
    if (asked !== text) return; // somebody has typed on
    const there = new Set(nodesOf());
    const items = [
      ...names.filter((name) => there.has(name)).map((name) => make("li", {}, "node ", link("node", name))),
      ...(found?.volumes ?? []).slice(0, mostVolumes).map(({ name, volume, node, standing, reason, claim, pods }) => {
        const users = [claim === undefined ? "" : `claim ${claim}`, ...pods.slice(0, 3).map((pod) => `pod ${pod}`)];
        return make(
          "li",
          { "data-state": standing },
          pill(standing),
          " volume ",
          link("volume", name, volume),
          ` on ${node} `,
          standing !== "ready" && make("code", {}, reason),
          make(
            "span",
            { class: "facts" },
            users
              .filter((user) => user !== "")
              .map((user) => ` · ${user}`)
              .join(""),
          ),
        );
      }),
    ];
    known.replaceChildren(...items);
    known.hidden = items.length === 0;
  }

  /** @param {boolean} open */
  function toggle(open) {
    section.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return opener.focus();
    void why.loaded().catch(() => undefined);
    if (byId("why-summary").textContent?.trim() === "") why.put("");
    else byId("why-text").focus();
  }

  opener.addEventListener("click", () => toggle(Boolean(section.hidden)));
  byId("why-close").addEventListener("click", () => toggle(false));
  if (location.hash === "#why") toggle(true);
  return {
    open: () => toggle(true),
    /** @returns {boolean} whether the keyboard was in it, and it is closed now */
    closeIfIn() {
      if (section.hidden || !section.contains(document.activeElement)) return false;
      toggle(false);
      return true;
    },
  };
}
