import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { SourceMap } from "node:module";

/** Milliseconds of a thread, by what it did. */
export type Times = ReadonlyMap<string, number>;

/** Microseconds between two samples. */
const intervalUs = 200;
/** What V8 itself reports beside functions. */
const byV8 = new Map([
  ["(idle)", "idle"],
  ["(garbage collector)", "garbage collection"],
  ["(program)", "outside of JavaScript"],
]);

/** Profiles this thread while `work` runs. @param map of the bundle that runs */
export async function profiled(work: () => Promise<void>, map: string): Promise<Times> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: intervalUs });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return timesOf(profile, new SourceMap(JSON.parse(readFileSync(map, "utf8"))));
}

/** PURE. Of each function of ours, with what it called that is not: `name (file)`. */
export function timesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, map: SourceMap): Times {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byID = new Map(nodes.map((node) => [node.id, node]));
  const names = new Map<number, string>();
  const nameOf = (id: number): string => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const node = byID.get(id);
    const parent = parents.get(id);
    const own = node && nameIn(node.callFrame, map);
    const name = own ?? (parent === undefined ? "Node itself" : nameOf(parent));
    names.set(id, name);
    return name;
  };
  const times = new Map<string, number>();
  samples.forEach((id, index) => {
    const name = nameOf(id);
    if (name.startsWith(`${profiled.name} (`)) return; // to begin and to end the profile
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  });
  return times;
}

/** Undefined of what is not ours: then it counts for who has called it. */
function nameIn(
  { functionName, url, lineNumber, columnNumber }: Profiler.Profile["nodes"][number]["callFrame"],
  map: SourceMap,
) {
  const special = byV8.get(functionName);
  if (special !== undefined || !url.endsWith(".cjs")) return special;
  const entry = map.findEntry(lineNumber, columnNumber);
  if (!("originalSource" in entry)) return undefined;
  const [, file] = /(?:^|\/)((?:src|hack)\/.*)$/.exec(entry.originalSource) ?? [];
  if (file === undefined || entry.originalSource.includes("node_modules")) return undefined;
  return `${functionName === "" ? "a function" : functionName} (${file})`;
}
