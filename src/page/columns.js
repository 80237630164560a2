// What the two tables show of a trouble and of a node.
import { make } from "./dom.js";
import { counted, states } from "./labels.js";
import { pill, since } from "./panel.js";

/** @typedef {import("../controller/page/overview.ts").Trouble} Trouble */
/** @typedef {ReturnType<typeof import("./data.js").nodeRows>[number]} NodeRow */

/**
 * @param {{ nodeName: (trouble: Trouble) => string, volumesOf: (trouble: Trouble) => number, isNew: (trouble: Trouble) => boolean }} known
 * @returns {import("./table.js").Column<Trouble>[]}
 */
export function troubleColumns({ nodeName, volumesOf, isNew }) {
  return [
    {
      title: "State",
      name: "state",
      of: (trouble) => [pill(trouble.state), isNew(trouble) && make("span", { class: "new" }, " new")],
    },
    {
      title: "Node",
      name: "node",
      of: (trouble) => [nodeName(trouble) || make("span", { class: "facts" }, "on all nodes")],
    },
    {
      title: "Volume",
      name: "volume",
      of: (trouble) => {
        const { kind, title, sets } = trouble;
        if (kind === "node") return [counted(volumesOf(trouble), "volume"), make("small", {}, "all of the node")];
        const also = kind === "volume" ? sets.filter((set) => set !== title).join(", ") : kind;
        return [title, also !== "" && make("small", {}, kind === "volume" ? `set ${also}` : also)];
      },
    },
    {
      title: "Why",
      name: "why",
      of: ({ reason, message }) => [make("b", {}, reason), make("span", { title: message }, message)],
    },
    { title: "Since", name: "since", of: (trouble) => [since(trouble.since)] },
  ];
}

/** @type {import("./table.js").Column<NodeRow>[]} */
export const nodeColumns = [
  {
    title: "State",
    name: "state",
    of: ({ state }) => [state === undefined ? make("span", { class: "facts" }, "no volumes") : pill(state)],
  },
  { title: "Node", name: "node", of: ({ name }) => [name] },
  {
    title: "As desired",
    name: "count",
    of: ({ ready, volumes }) => [volumes === 0 ? "–" : `${ready} of ${volumes}`],
  },
  {
    title: "Not as desired",
    name: "why",
    of: ({ troubles }) => [
      troubles
        .map(
          ({ kind, title, reason, state }) => `${states[state].symbol} ${kind === "node" ? "" : `${title}: `}${reason}`,
        )
        .join(" · "),
    ],
  },
];
