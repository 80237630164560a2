// Nodes × volumes as one picture: a line for each set, a place on it for each node. A node that is ill is a column, a volume that
// is ill a row. It is for the eye: all that it shows is in the tables, too.
import { expand } from "./data.js";
import { make, say } from "./dom.js";
import { stateOfLetter, states } from "./labels.js";

/** @typedef {import("../controller/page/overview.ts").Overview} Overview */
/** @typedef {import("./labels.js").State} State */

const lineHeight = 26;
const barHeight = 20;
/** What is wrong is never narrower than this, however many nodes there are. */
const narrowest = 3;
/** The better ones first: what is worse is drawn over them. */
const drawn = /** @type {State[]} */ (Object.keys(states)).reverse();

/**
 * @param {HTMLElement} place
 * @param {HTMLElement} pointed where it is said in words what the pointer is on
 * @param {(node: string) => void} open
 */
export function createPicture(place, pointed, open) {
  const names = make("ol", { class: "names" });
  const canvas = make("canvas", { role: "img" });
  const board = make("div", { class: "board" }, canvas);
  place.append(names, board);
  /** @type {{ row: Overview["rows"][number], letters: string }[]} */
  let lines = [];
  /** @type {readonly string[]} */
  let nodes = [];
  /** @type {{ line: number, node: number } | undefined} */
  let over;
  /** Place of the node of what is selected. */
  let marked = -1;

  function draw() {
    const width = board.clientWidth;
    const height = lines.length * lineHeight;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    if (context === null || nodes.length === 0) return;
    context.scale(scale, scale);
    const style = getComputedStyle(place);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const step = width / nodes.length;
    const gap = step > 24 ? 3 : step > 6 ? 1 : 0;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `bold 13px ${getComputedStyle(place).fontFamily}`;
    for (const [index, { letters }] of lines.entries()) {
      const top = index * lineHeight + (lineHeight - barHeight) / 2;
      context.fillStyle = colour("nothing");
      context.fillRect(0, top, width, barHeight);
      for (const state of drawn) {
        const { letter, symbol } = states[state];
        context.fillStyle = colour(state);
        for (let from = letters.indexOf(letter); from >= 0; from = letters.indexOf(letter, from)) {
          let to = from + 1;
          // Wide cells are separate, narrow ones of one kind are one bar.
          while (gap === 0 && letters[to] === letter) to += 1;
          // On whole pixels: half of one is half of a colour.
          const left = Math.floor(from * step);
          const wide = Math.max(Math.floor(to * step) - left - gap, state === "ready" ? 1 : narrowest);
          context.fillRect(left, top, wide, barHeight);
          if (step >= 18 && state !== "ready") {
            context.fillStyle = colour("on-state");
            context.fillText(symbol, left + wide / 2, top + barHeight / 2 + 1);
            context.fillStyle = colour(state);
          }
          from = to;
        }
      }
    }
    if (marked >= 0) {
      context.strokeStyle = colour("text");
      context.lineWidth = 2;
      context.strokeRect(marked * step - 1, 1, Math.max(step - gap, narrowest) + 2, height - 2);
    }
  }

  /** @param {MouseEvent} event */
  function find({ clientX, clientY }) {
    const { left, top, width } = canvas.getBoundingClientRect();
    const line = Math.floor((clientY - top) / lineHeight);
    const at = ((clientX - left) / width) * nodes.length;
    const node = Math.floor(at);
    const letters = lines[line]?.letters;
    if (letters === undefined || node < 0 || node >= nodes.length) return undefined;
    // Something that is wrong is drawn wider than it is: near it, it is what is meant.
    const reach = Math.ceil((narrowest / width) * nodes.length) + 1;
    let [best, weight] = [node, drawn.indexOf(stateOfLetter.get(letters[node] ?? ".") ?? "ready")];
    for (let near = Math.max(0, node - reach); node > 0 && near < node && width / nodes.length < narrowest; near += 1) {
      const other = drawn.indexOf(stateOfLetter.get(letters[near] ?? ".") ?? "ready");
      if (other > weight) [best, weight] = [near, other];
    }
    return { line, node: best };
  }

  canvas.addEventListener("mousemove", (event) => {
    const found = find(event);
    if (found?.line === over?.line && found?.node === over?.node) return;
    over = found;
    const line = found === undefined ? undefined : lines[found.line];
    const state = found === undefined ? undefined : stateOfLetter.get(line?.letters[found.node] ?? ".");
    const text =
      found === undefined || line === undefined
        ? "\u00a0"
        : `${nodes[found.node]}, ${line.row.name}: ${state === undefined ? "nothing there" : `${states[state].symbol} ${states[state].word}`}`;
    say(pointed, text);
  });
  canvas.addEventListener("mouseleave", () => {
    over = undefined;
    say(pointed, "\u00a0");
  });
  canvas.addEventListener("click", (event) => {
    const found = find(event);
    if (found !== undefined) open(nodes[found.node] ?? "");
  });
  new ResizeObserver(draw).observe(board);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  return {
    /** @param {Overview} overview */
    show(overview) {
      nodes = overview.nodes;
      lines = overview.rows.filter(({ volumes }) => volumes > 0).map((row) => ({ row, letters: expand(row.line) }));
      names.replaceChildren(
        ...lines.map(({ row }) => {
          const sum =
            row.kind === "orphans"
              ? String(row.volumes)
              : `${row.ready.toLocaleString("en")}/${row.volumes.toLocaleString("en")}`;
          const bad = row.kind === "orphans" || row.ready < row.volumes;
          return make(
            "li",
            { "data-bad": bad, title: row.name },
            make("span", { class: "name" }, row.name),
            make("span", { class: "sum" }, sum),
          );
        }),
      );
      const wrong = lines.filter(({ row }) => row.kind === "orphans" || row.ready < row.volumes).length;
      canvas.setAttribute(
        "aria-label",
        `Picture of ${lines.length} lines by ${nodes.length} nodes; ${wrong === 0 ? "all is as desired" : `${wrong} of the lines are not all as desired`}. The tables say the same.`,
      );
      draw();
    },
    /** @param {string | undefined} node */
    mark(node) {
      marked = node === undefined ? -1 : nodes.indexOf(node);
      draw();
    },
  };
}

/** @param {HTMLElement} place */
export function writeLegend(place) {
  for (const [state, { symbol, word }] of Object.entries(states))
    place.append(make("span", {}, make("i", { "data-state": state }, state === "ready" ? "\u00a0" : symbol), word));
}
