import type { Mutant } from "./mutant.ts";

const planner = "src/agent/planner/incremental/incremental-planner.ts";
const points = "src/agent/planner/incremental/mount-dependencies.ts";
const plannedFrom = "src/agent/planner/incremental/plan-dependencies.ts";
const incremental = { law: "incremental", test: "says after each of many changes" } as const;

/** What the planner takes for unchanged. */
export const ofPlanner: readonly Mutant[] = [
  {
    ...incremental,
    what: "misses a mount that came, went or changed",
    file: planner,
    from: "for (const mount of changes) addAll(stale, this.#mountDependencies.of(mount));",
    to: "",
  },
  {
    ...incremental,
    what: "misses a mount on a directory above",
    file: points,
    from: "if (isBeneath(path, point)) yield* volumes;",
    to: "if (path === point) yield* volumes;",
    runs: 4000,
  },
  {
    ...incremental,
    what: "misses what changed for the node",
    file: planner,
    from: "for (const mount of onNode) addAll(stale, this.#mountDependencies.onNode(mount));",
    to: "",
    runs: 4000,
  },
  {
    ...incremental,
    what: "misses what another volume claims",
    file: planner,
    from: "addAll(stale, this.#owners.set(name, from?.desired, from?.record));",
    to: "this.#owners.set(name, from?.desired, from?.record);",
    runs: 4000,
  },
  {
    ...incremental,
    what: "misses an intent that has changed",
    file: planner,
    from: "desired.get(name) !== known.desired || ",
    to: "",
  },
  {
    ...incremental,
    what: "misses a record that has changed",
    file: planner,
    from: " || records.get(name) !== known.record",
    to: "",
  },
  {
    ...incremental,
    what: "misses a volume that is new",
    file: planner,
    from: "if (!this.#known.has(name)) names.add(name);",
    to: "",
  },
  {
    ...incremental,
    what: "misses a failure",
    file: planner,
    from: "this.#compareFailures(input, stale);",
    to: "",
    runs: 4000,
  },
  {
    ...incremental,
    what: "misses that it is time to try again, or to look",
    file: planner,
    from: "for (const [name, due] of this.#restless) if (input.now >= due) stale.add(name);",
    to: "",
  },
  {
    ...incremental,
    what: "misses a content",
    file: plannedFrom,
    from: "isSameContent(a.content, b.content)",
    to: "true",
  },
  {
    ...incremental,
    what: "misses that the intents were read completely",
    file: planner,
    from: "before.synced === synced &&",
    to: "",
  },
];
