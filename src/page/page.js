// The page: what is wrong, the picture, the nodes, and on a click why.
import { createAside, go } from "./aside.js";
import { nodeColumns, troubleColumns } from "./columns.js";
import { follow, nodeRows, now } from "./data.js";
import { byId, make, say, set } from "./dom.js";
import { age, states, verdictOf } from "./labels.js";
import { createPicture, writeLegend } from "./picture.js";
import { createSearch } from "./search.js";
import { createTable } from "./table.js";
import { createWhyHere } from "./why-here.js";

/** @typedef {import("../controller/page/overview.ts").Overview} Overview */
/** @typedef {import("../controller/page/overview.ts").Trouble} Trouble */

/** For how long a trouble that has come while one looks is marked. */
const newForMs = 60_000;

/** @type {Overview | undefined} */
let overview;
/** States that alone are shown; all if there are none. @type {Set<string>} */
const only = new Set();
/** When each trouble was first seen; 0 if it was there at first. @type {Map<string, number>} */
let seen = new Map();
const filter = /** @type {HTMLInputElement} */ (byId("filter"));

const nodeName = (/** @type {Trouble} */ { node }) => (node === undefined ? "" : (overview?.nodes[node] ?? ""));
const keyOf = (/** @type {Trouble} */ trouble) =>
  `${trouble.kind}/${nodeName(trouble)}/${trouble.name}/${trouble.reason}`;

const troubleTable = createTable(byId("troubles-table"), {
  titleId: "troubles-title",
  height: 68,
  most: 5,
  keyOf,
  stateOf: ({ state }) => state,
  open: (trouble) => go(...targetOf(trouble)),
  columns: troubleColumns({
    nodeName,
    volumesOf: ({ node }) => overview?.volumes[node ?? -1] ?? 0,
    isNew: (trouble) => Date.now() - (seen.get(keyOf(trouble)) ?? 0) < newForMs,
  }),
});
const nodeTable = createTable(byId("nodes-table"), {
  titleId: "nodes-title",
  height: 36,
  most: 16,
  keyOf: ({ name }) => name,
  stateOf: ({ state }) => state,
  open: ({ name }) => go("node", name),
  columns: nodeColumns,
});
const found = createSearch();
const why = createWhyHere(() => overview?.nodes ?? []);
const picture = createPicture(byId("picture"), byId("pointed"), (node) => go("node", node));
writeLegend(byId("legend"));
const aside = createAside(
  (chosen, node) => {
    const trouble = overview?.troubles.find((one) => targetOf(one).join("/") === `${chosen?.kind}/${chosen?.name}`);
    troubleTable.select(trouble === undefined ? "" : keyOf(trouble));
    nodeTable.select(node ?? "");
    found.select(chosen?.kind === "volume" ? chosen.name : "");
    picture.mark(node);
  },
  ({ kind, name }) => {
    const isTrouble = overview?.troubles.some((one) => targetOf(one).join("/") === `${kind}/${name}`);
    if (!isTrouble && kind === "volume" && found.has(name)) found.focus();
    else (isTrouble || kind === "volume" ? troubleTable : nodeTable).focus();
  },
);

/**
 * @param {Trouble} trouble
 * @returns {["volume" | "node", string]}
 */
function targetOf(trouble) {
  return trouble.kind === "volume" ? ["volume", trouble.name] : ["node", nodeName(trouble)];
}

/** @param {Overview} next */
function show(next) {
  const first = overview === undefined;
  overview = next;
  seen = new Map(next.troubles.map(keyOf).map((key) => [key, seen.get(key) ?? (first ? 0 : Date.now())]));
  const { state, head, summary } = verdictOf(next);
  set(byId("verdict"), { "data-state": state });
  say(byId("mark"), states[state].symbol);
  say(byId("head"), head);
  say(byId("summary"), summary);
  document.title = `${states[state].symbol} ${head}`;
  say(byId("stale"), next.stale ?? "");
  byId("stale").hidden = next.stale === undefined;
  say(byId("version"), `node-volume-operator ${next.version}`);
  drawChips(next);
  picture.show(next);
  drawTables();
  aside.refresh();
}

/** @param {Overview} next */
function drawChips({ causes }) {
  const focused = document.activeElement?.getAttribute("data-chip");
  const chips = Object.entries(states).map(([state, { symbol, word, what }]) => {
    const count = causes.reduce((sum, cause) => sum + (cause.state === state ? cause.count : 0), 0);
    if (state === "ready" || (count === 0 && !only.has(state))) return undefined;
    const pressed = only.has(state) ? "true" : "false";
    const attributes = {
      type: "button",
      "data-chip": state,
      "data-state": state,
      "aria-pressed": pressed,
      title: what,
    };
    return make(
      "button",
      attributes,
      make("i", { "aria-hidden": "true" }, symbol),
      ` ${count.toLocaleString("en")} ${word}`,
    );
  });
  byId("chips").replaceChildren(...chips.filter((chip) => chip !== undefined));
  if (focused) /** @type {HTMLElement | null} */ (document.querySelector(`[data-chip="${focused}"]`))?.focus();
}

function drawTables() {
  if (overview === undefined) return;
  const words = filter.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const hit = (/** @type {string} */ text) => words.every((word) => text.toLowerCase().includes(word));
  const wanted = (/** @type {string | undefined} */ state) =>
    only.size === 0 || (state !== undefined && only.has(state));
  const textOf = (/** @type {Trouble} */ trouble) => {
    const { title, name, sets, reason, state, message } = trouble;
    return [nodeName(trouble), title, name, ...sets, reason, state, message].join(" ");
  };
  const troubles = overview.troubles.filter((trouble) => wanted(trouble.state) && hit(textOf(trouble)));
  const nodes = nodeRows(overview).filter(
    ({ name, state, troubles: own }) =>
      (wanted(state) || own.some((one) => wanted(one.state))) && (hit(name) || own.some((one) => hit(textOf(one)))),
  );
  troubleTable.show(troubles);
  nodeTable.show(nodes);
  found.look(words);
  const narrowed = words.length > 0 || only.size > 0;
  say(byId("calm"), calmWords(narrowed, overview.totals.volumes));
  byId("calm").hidden = troubles.length > 0;
  const causes = overview.causes.slice(0, 8).map(({ reason, count }) => `${reason} ${count.toLocaleString("en")}`);
  say(byId("omitted"), `${overview.omitted.toLocaleString("en")} more are not listed. By cause: ${causes.join(", ")}.`);
  byId("omitted").hidden = overview.omitted === 0;
  const all = overview.nodes.length.toLocaleString("en");
  say(byId("nodes-title"), narrowed ? `Nodes (${nodes.length.toLocaleString("en")} of ${all})` : `Nodes (${all})`);
  say(byId("matching"), narrowed ? `${troubles.length} of what is wrong and ${nodes.length} nodes fit the filter` : "");
}

/**
 * @param {boolean} narrowed
 * @param {number} volumes
 */
function calmWords(narrowed, volumes) {
  if (narrowed) return "Nothing that is wrong fits the filter.";
  return volumes === 0 ? "No set specifies a volume yet." : "✓ Nothing. Every volume is as its set specifies.";
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement !== filter && !why.closeIfIn()) aside.close();
  const typing =
    document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLTextAreaElement;
  if (!["/", "?"].includes(event.key) || event.ctrlKey || event.metaKey || typing) return;
  event.preventDefault();
  if (event.key === "/") filter.focus();
  else why.open();
});
filter.addEventListener("input", drawTables);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("chips").addEventListener("click", ({ target }) => {
  const state = target instanceof Element ? target.closest("[data-chip]")?.getAttribute("data-chip") : undefined;
  if (!state || overview === undefined) return;
  if (!only.delete(state)) only.add(state);
  drawChips(overview);
  drawTables();
});
// Ages grow by themselves.
setInterval(() => {
  for (const element of document.querySelectorAll("time"))
    say(element, age(element.getAttribute("datetime") ?? "", now()));
}, 5_000);

const live = { live: "● live", polling: "○ read every 10 s", lost: "× no connection to the controller" };
follow(show, (state) => {
  set(byId("live"), { "data-state": state });
  say(byId("live"), live[state]);
});
