// What is known of one volume or one node: the chain of its causes first, then what has happened to it.
import { now } from "./data.js";
import { make } from "./dom.js";
import { age, clock, duration, states } from "./labels.js";

/** @typedef {import("../controller/page/details.ts").VolumeDetails} VolumeDetails */
/** @typedef {import("../controller/page/details.ts").NodeDetails} NodeDetails */
/** @typedef {import("../explain/finding.ts").Finding} Finding */

const found = /** @type {const} */ ({
  done: { symbol: "✓", word: "done", as: "ready" },
  waiting: { symbol: "…", word: "waits", as: "waiting" },
  blocked: { symbol: "×", word: "blocked", as: "blocked" },
  unknown: { symbol: "?", word: "unknown", as: "unknown" },
});

/** @param {string} state */
export function pill(state) {
  const { symbol, word } = states[/** @type {keyof typeof states} */ (state)] ?? states.unknown;
  return make("span", { class: "pill", "data-state": state }, make("i", { "aria-hidden": "true" }, symbol), ` ${word}`);
}

/** @param {string | undefined} time */
export function since(time) {
  return time === undefined ? "" : make("time", { datetime: time, title: clock(time) }, age(time, now()));
}

/** @param {readonly Finding[]} chain */
function chainOf(chain) {
  return make(
    "ol",
    { class: "chain" },
    ...chain.map((finding, at) => {
      const { symbol, word, as } = found[finding.state];
      const because = at > 0 && finding.state !== "done" && chain[at - 1]?.state !== "done";
      const facts = [
        (finding.attempts ?? 0) > 1 ? `${finding.attempts} attempts` : "",
        finding.nextRetryTime === undefined ? "" : next(finding.nextRetryTime),
        finding.on === undefined
          ? ""
          : `on ${finding.on.kind} ${finding.on.namespace === undefined ? "" : `${finding.on.namespace}/`}${finding.on.name}`,
      ].filter((fact) => fact !== "");
      return make(
        "li",
        { "data-state": as },
        make("i", { class: "dot", "aria-hidden": "true" }, symbol),
        make("span", { class: "hidden" }, `${word}: `),
        make("p", {}, because && make("em", {}, finding.also ? "also, " : "because "), finding.text),
        make(
          "p",
          { class: "facts" },
          make("code", {}, finding.code),
          finding.since !== undefined && " for ",
          since(finding.since),
          facts.length === 0 ? "" : `, ${facts.join(", ")}`,
        ),
        finding.quote !== undefined && finding.quote !== "" && make("blockquote", {}, finding.quote),
        finding.todo !== undefined &&
          finding.todo !== "" &&
          make("p", { class: "todo" }, make("b", {}, "What to do. "), finding.todo),
      );
    }),
  );
}

/** @param {string} time */
function next(time) {
  const ms = Date.parse(time) - now();
  return ms > 0 ? `next attempt in ${duration(ms)}` : "next attempt is due";
}

/**
 * @param {string} title
 * @param {import("./dom.js").Child[]} children
 */
function part(title, ...children) {
  return make("section", {}, make("h3", {}, title), ...children);
}

/** @param {readonly string[]} commands */
function commandsOf(commands) {
  return part(
    "Go on with",
    make(
      "ul",
      { class: "commands" },
      ...commands.map((command) => make("li", {}, make("code", { tabindex: 0 }, command))),
    ),
  );
}

/** @param {string | undefined} why */
function unread(why) {
  return why !== undefined && make("p", { class: "stale" }, `Not all is shown: ${why}.`);
}

/** @param {VolumeDetails["history"]} history */
function historyOf(history) {
  return history.length === 0
    ? make("p", { class: "facts" }, "nothing is known")
    : make(
        "ol",
        { class: "history" },
        ...history.map(({ time, state, reason, lastedMs }) =>
          make(
            "li",
            {},
            make("span", {}, since(time), " ago"),
            make("b", {}, state),
            make("span", {}, reason),
            make("span", { class: "facts" }, lastedMs === undefined ? "until now" : `for ${duration(lastedMs)}`),
          ),
        ),
      );
}

/** @param {VolumeDetails["conditions"]} conditions */
function conditionsOf(conditions) {
  return make(
    "details",
    {},
    make("summary", {}, "Conditions"),
    make(
      "ul",
      { class: "places" },
      ...conditions.map(({ type, status, reason, message, since: from }) =>
        make(
          "li",
          {},
          make("b", {}, `${type} ${status}`),
          " ",
          make("code", {}, reason),
          " ",
          since(from),
          make("p", { class: "facts" }, message),
        ),
      ),
    ),
  );
}

/** @param {VolumeDetails} details */
export function volumeView(details) {
  const { volume, node, standing, chain, mounts, pods, plan, history, conditions, lastError } = details;
  const places = [...mounts, ...pods];
  return [
    title(
      volume,
      standing,
      make(
        "p",
        { class: "facts" },
        "on ",
        link("node", node),
        ` · ${details.type} · ${details.state}`,
        details.mode === "Observe" ? " · only observed" : "",
        details.sets.length === 0 ? "" : ` · ${details.sets.length === 1 ? "set" : "sets"} ${details.sets.join(", ")}`,
      ),
    ),
    unread(details.notRead),
    part("Why", chainOf(chain)),
    places.length > 0 &&
      part(
        "Where",
        make(
          "ul",
          { class: "places" },
          ...places.map(({ name, path, state, drift, message }) =>
            make(
              "li",
              { "data-state": state === "Mounted" ? "ready" : "waiting" },
              make("b", {}, state),
              " ",
              make("code", {}, path),
              ` ${name}`,
              drift !== undefined && ` · ${drift}`,
              message !== undefined && make("p", { class: "facts" }, message),
            ),
          ),
        ),
      ),
    plan.length > 0 && part("What mode Manage would do", make("ul", {}, ...plan.map((step) => make("li", {}, step)))),
    lastError !== undefined &&
      part(
        "Last error",
        make("p", {}, make("code", {}, lastError.reason), ` ${lastError.operation}, `, since(lastError.time), " ago"),
        make("blockquote", {}, lastError.message),
      ),
    part("History", historyOf(history)),
    conditions.length > 0 && conditionsOf(conditions),
    commandsOf(details.commands),
  ];
}

/** @param {NodeDetails} details */
export function nodeView(details) {
  const { name, standing, chain, agent, volumes, orphans, orphaned } = details;
  const ready = volumes.filter((volume) => volume.standing === "ready").length;
  const said = {
    live: "its agent responds",
    late: "its agent is late",
    lost: "its agent does not respond",
    unknown: "its agent has not reported yet",
  }[agent.life];
  return [
    title(
      name,
      standing,
      make(
        "p",
        { class: "facts" },
        `node · ${ready} of ${volumes.length} volumes as desired · ${said}`,
        agent.version === undefined ? "" : ` · ${agent.version}`,
      ),
    ),
    unread(details.notRead),
    chain.length > 0 && part("Why", chainOf(chain)),
    orphans.length > 0 &&
      part(
        `Orphans (${orphaned})`,
        make(
          "ul",
          { class: "places" },
          ...orphans.map(({ path, reason, since: from, message, remedy, keptBecause, reapAt }) =>
            make(
              "li",
              { "data-state": "orphan" },
              make("code", {}, path),
              make("p", { class: "facts" }, make("code", {}, reason), " ", since(from)),
              message !== undefined && make("p", {}, message),
              remedy !== undefined && make("p", { class: "todo" }, make("b", {}, "What to do. "), remedy),
              reapAt !== undefined && make("p", { class: "facts" }, `the agent removes it at ${clock(reapAt)}`),
              keptBecause !== undefined && make("p", { class: "facts" }, `kept because ${keptBecause}`),
            ),
          ),
        ),
      ),
    part(
      "Volumes",
      make(
        "ul",
        { class: "places" },
        ...volumes.map((volume) =>
          make(
            "li",
            { "data-state": volume.standing },
            pill(volume.standing),
            " ",
            link("volume", volume.name, volume.volume),
            " ",
            volume.standing !== "ready" && make("code", {}, volume.reason),
            " ",
            since(volume.since),
            volume.message !== "" && make("p", { class: "facts" }, volume.message),
          ),
        ),
      ),
    ),
    commandsOf(details.commands),
  ];
}

/**
 * @param {"volume" | "node"} kind
 * @param {string} name
 * @param {string} [text]
 */
export function link(kind, name, text = name) {
  return make("a", { href: `#${kind}/${name}` }, text);
}

/**
 * @param {string} text
 * @param {string} standing
 * @param {Node} facts
 */
function title(text, standing, facts) {
  const heading = make("h2", { id: "panel-title", tabindex: -1 }, text);
  return make(
    "div",
    { class: "title" },
    make("div", {}, heading, facts),
    pill(standing),
    make("button", { type: "button", class: "close", "aria-label": "Close" }, "×"),
  );
}
