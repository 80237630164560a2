// The overview: fetched, kept, and asked. It is followed by server-sent events, and read now and then where these do not come.
import { stateOfLetter } from "./labels.js";

/** @typedef {import("../controller/page/overview.ts").Overview} Overview */
/** @typedef {import("../controller/page/overview.ts").Trouble} Trouble */

const betweenReadsMs = 10_000;

/**
 * @param {(overview: Overview) => void} onOverview
 * @param {(state: "live" | "polling" | "lost") => void} onState
 */
export function follow(onOverview, onState) {
  let tag = "";
  let reading = false;
  let again = false;
  let followed = false;

  async function read() {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    try {
      const answer = await fetch("/api/overview", {
        cache: "no-store",
        headers: tag === "" ? {} : { "if-none-match": tag },
      });
      if (answer.status === 200) {
        tag = answer.headers.get("etag") ?? "";
        skew = Date.parse(answer.headers.get("date") ?? "") - Date.now() || 0;
        onOverview(await answer.json());
      } else if (answer.status !== 304) throw new Error(`${answer.status}`);
      onState(followed ? "live" : "polling");
    } catch {
      onState("lost");
    } finally {
      reading = false;
      if (again) {
        again = false;
        void read();
      }
    }
  }

  function listen() {
    const changes = new EventSource("/api/changes");
    changes.onopen = () => {
      followed = true;
      void read();
    };
    changes.onmessage = () => void read();
    changes.onerror = () => {
      followed = false;
      onState("lost");
      // Refused: it does not try again by itself.
      if (changes.readyState === EventSource.CLOSED) setTimeout(listen, betweenReadsMs * 3);
    };
  }

  setInterval(() => {
    if (!followed) void read();
  }, betweenReadsMs);
  void read();
  listen();
}

/** Milliseconds that the controller's clock is ahead of this one, as far as a second says it. */
let skew = 0;

/** By the controller's clock: ages are of its times. */
export function now() {
  return Date.now() + (Math.abs(skew) > 2_000 ? skew : 0);
}

/**
 * "12r1b" as one letter a node.
 * @param {string} line
 */
export function expand(line) {
  return line.replace(/(\d+)(.)/g, (_, count, letter) => letter.repeat(Number(count)));
}

/**
 * @param {"volumes" | "nodes"} kind
 * @param {string} name
 * @returns {Promise<any>} undefined: there is none
 */
export async function details(kind, name) {
  const answer = await fetch(`/api/${kind}/${encodeURIComponent(name)}`, { cache: "no-store" });
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`the controller answers ${answer.status}`);
  return answer.json();
}

/**
 * Volumes by what people call them: words of which each must fit, or names of which each may.
 * @param {{ words: readonly string[] } | { names: readonly string[] }} search
 * @returns {Promise<import("../controller/page/details.ts").Found>}
 */
export async function find(search) {
  const asked = "words" in search ? ["words", search.words.join(" ")] : ["names", search.names.join(" ")];
  const answer = await fetch(`/api/find?${new URLSearchParams([asked])}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(`the controller answers ${answer.status}`);
  return answer.json();
}

/** @returns {Promise<import("../explain/why/why-table.ts").WhyTable>} */
export async function whyTable() {
  const answer = await fetch("/why.json");
  if (!answer.ok) throw new Error(`the controller answers ${answer.status}`);
  return answer.json();
}

/**
 * A row for each node, those with troubles first, in the order of these.
 * @param {Overview} overview
 */
export function nodeRows({ nodes, volumes, ready, line, troubles }) {
  const letters = expand(line);
  /** @type {Map<number, Trouble[]>} */
  const byNode = new Map();
  for (const trouble of troubles) {
    if (trouble.node === undefined) continue;
    const own = byNode.get(trouble.node);
    if (own === undefined) byNode.set(trouble.node, [trouble]);
    else own.push(trouble);
  }
  const rows = nodes.map((name, at) => {
    const own = byNode.get(at) ?? [];
    const state = stateOfLetter.get(letters[at] ?? ".");
    const worst = state === undefined || state === "ready" ? (own[0]?.state ?? state) : state;
    return { name, at, state: worst, volumes: volumes[at] ?? 0, ready: ready[at] ?? 0, troubles: own };
  });
  const order = [...stateOfLetter.values()];
  const weight = (/** @type {typeof rows[number]} */ row) =>
    row.state === undefined ? order.length : order.indexOf(row.state);
  return rows.sort((a, b) => weight(a) - weight(b) || a.at - b.at);
}
