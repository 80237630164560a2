// Volumes that fit the filter, whether something is wrong with them or not: the overview has only those in trouble.
import { go } from "./aside.js";
import { find } from "./data.js";
import { byId, make, say } from "./dom.js";
import { pill } from "./panel.js";
import { createTable } from "./table.js";

/** @typedef {import("../controller/page/details.ts").FoundVolume} FoundVolume */

/** Milliseconds after the last key. */
const pauseMs = 200;
/** Milliseconds until the same is looked for once more: each search looks at every volume of the cluster. */
const againMs = 10_000;

export function createSearch() {
  const section = byId("found");
  let wanted = "";
  let timer = 0;
  let lookedAt = 0;
  /** @type {readonly FoundVolume[]} */
  let volumes = [];
  /** @type {import("./table.js").Column<FoundVolume>[]} */
  const columns = [
    { title: "State", name: "state", of: ({ standing }) => [pill(standing)] },
    { title: "Node", name: "node", of: ({ node }) => [node] },
    {
      title: "Volume",
      name: "volume",
      of: ({ volume, sets }) => [volume, sets.some((set) => set !== volume) && ` · ${sets.join(", ")}`],
    },
    { title: "Claim and pods", name: "why", of: ({ claim, pods }) => [usersOf(claim, pods)] },
  ];
  const table = createTable(byId("found-table"), {
    ...{ titleId: "found-title", height: 36, most: 8, columns },
    keyOf: ({ name }) => name,
    stateOf: ({ standing }) => standing,
    open: ({ name }) => go("volume", name),
  });

  async function show() {
    const asked = wanted;
    lookedAt = Date.now();
    const found = asked === "" ? undefined : await find({ words: asked.split(" ") }).catch(() => undefined);
    if (asked !== wanted) return;
    // What could not be found is not shown as none.
    if (found === undefined && asked !== "") return;
    volumes = found?.volumes ?? [];
    const omitted = found?.omitted ?? 0;
    section.hidden = found === undefined;
    say(byId("found-title"), `Volumes (${(volumes.length + omitted).toLocaleString("en")})`);
    const more = `${omitted.toLocaleString("en")} more are not listed.`;
    say(byId("found-more"), volumes.length === 0 ? "No volume fits the filter." : more);
    byId("found-more").hidden = omitted === 0 && volumes.length > 0;
    table.show(volumes);
  }

  return {
    /** @param {readonly string[]} words none: nothing is looked for */
    look(words) {
      const next = words.join(" ");
      if (next === wanted && (next === "" || Date.now() - lookedAt < againMs)) return;
      wanted = next;
      clearTimeout(timer);
      timer = setTimeout(show, pauseMs);
    },
    has: (/** @type {string} */ name) => volumes.some((volume) => volume.name === name),
    focus: table.focus,
    select: table.select,
  };
}

/**
 * @param {string | undefined} claim
 * @param {readonly string[]} pods
 */
function usersOf(claim, pods) {
  const of = pods.length === 0 ? "" : `${pods.length === 1 ? "pod" : "pods"} ${pods.join(", ")}`;
  const text = [claim === undefined ? "" : `claim ${claim}`, of].filter((user) => user !== "").join(" · ");
  return make("span", { title: text }, text);
}
