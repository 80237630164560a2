// How things are called, and what is said of the whole. Pure.

/** @typedef {import("../controller/page/overview.ts").Overview} Overview */
/** @typedef {import("../controller/page/overview.ts").Trouble} Trouble */
/** @typedef {import("../controller/page/overview.ts").Trouble["state"]} State */

/** In the order of weight: the first is what a person must look at first. Colour is never the only sign. */
export const states = /** @type {const} */ ({
  blocked: { symbol: "×", word: "blocked", letter: "b", what: "somebody must change something" },
  unknown: { symbol: "?", word: "unknown", letter: "u", what: "its agent does not respond" },
  drifted: { symbol: "≠", word: "drifted", letter: "d", what: "not as the agent left it" },
  waiting: { symbol: "…", word: "waiting", letter: "w", what: "ends by itself or by others' work" },
  orphan: { symbol: "◊", word: "orphan", letter: "x", what: "there, and nothing requires it" },
  differs: { symbol: "≈", word: "differs", letter: "o", what: "only observed, and not as specified" },
  suspended: { symbol: "||", word: "suspended", letter: "s", what: "repair is suspended" },
  ready: { symbol: "✓", word: "as desired", letter: "r", what: "as desired" },
});

/** @type {ReadonlyMap<string, State>} */
export const stateOfLetter = new Map(
  Object.entries(states).map(([state, { letter }]) => [letter, /** @type {State} */ (state)]),
);

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/**
 * What is to be seen in five seconds.
 * @param {Overview} overview
 * @returns {{ state: State, head: string, summary: string }}
 */
export function verdictOf(overview) {
  const { totals, nodes, rows } = overview;
  const { waiting, drifted, orphans, differs, suspended, volumes, ready } = totals;
  const sets = rows.filter(({ kind }) => kind === "set").length;
  const rest = {
    waiting,
    drifted,
    [orphans === 1 ? "orphan" : "orphans"]: orphans,
    "only observed and different": differs,
    suspended,
  };
  const counts = Object.entries(rest).filter(([, count]) => count > 0);
  const summary = [
    `${ready.toLocaleString("en")} of ${counted(volumes, "volume")} as desired`,
    ...counts.map(([word, count]) => `${count.toLocaleString("en")} ${word}`),
    `${counted(nodes.length, "node")}, ${counted(sets, "set")}`,
  ].join(" · ");
  const urgent = urgentOf(overview);
  if (urgent !== "") return { state: "blocked", head: urgent, summary };
  const are = (/** @type {number} */ count, /** @type {string} */ how) =>
    `${counted(count, "volume")} ${count === 1 ? "is" : "are"} ${how}`;
  if (drifted > 0) return { state: "drifted", head: are(drifted, "not as the agent left it"), summary };
  if (waiting > 0) return { state: "waiting", head: are(waiting, "waiting"), summary };
  if (orphans > 0) return { state: "orphan", head: `${counted(orphans, "orphan")} on the nodes`, summary };
  if (differs > 0) return { state: "differs", head: are(differs, "other than wanted, and only observed"), summary };
  if (volumes === 0) return { state: "ready", head: "No volumes are asked for", summary };
  return { state: "ready", head: "All volumes are as desired", summary };
}

/**
 * What somebody must look at: by name if it is little, else by number.
 * @param {Overview} overview
 */
function urgentOf({ totals: { blocked, badNodes, badSets }, troubles, nodes }) {
  const bad = troubles.filter(({ state, kind }) => state === "blocked" || (kind === "node" && state === "unknown"));
  const few = blocked + badNodes + badSets <= 2 && bad.length <= 2;
  if (few)
    return bad
      .map(({ kind, state, title, node }) => {
        const how = state === "unknown" ? "unresponsive" : "blocked";
        return kind === "volume" ? `${title} is ${how} on ${nodes[node ?? -1]}` : `${title} is ${how}`;
      })
      .join(" · ");
  return [
    blocked > 0 && `${counted(blocked, "volume")} blocked`,
    badNodes > 0 && `${counted(badNodes, "node")} in trouble`,
    badSets > 0 && `${counted(badSets, "set")} blocked`,
  ]
    .filter((part) => part !== false)
    .join(" · ");
}

/**
 * As kubectl shows ages.
 * @param {number} ms
 */
export function duration(ms) {
  const [second, minute, hour, day] = [1e3, 6e4, 36e5, 864e5];
  if (!(ms >= 0)) return "0s";
  if (ms < 2 * minute) return `${Math.floor(ms / second)}s`;
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`;
  return `${Math.floor(ms / day)}d`;
}

/**
 * @param {string | undefined} time
 * @param {number} now
 */
export function age(time, now) {
  const at = Date.parse(time ?? "");
  return Number.isNaN(at) ? "" : duration(now - at);
}

/**
 * For somebody who asks when exactly.
 * @param {string | undefined} time
 */
export function clock(time) {
  const at = Date.parse(time ?? "");
  return Number.isNaN(at)
    ? ""
    : new Date(at)
        .toISOString()
        .replace("T", " ")
        .replace(/\.\d+Z$/, " UTC")
        .replace("Z", " UTC");
}
