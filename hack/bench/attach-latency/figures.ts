// What is printed, and what of it is wanted.
import type { Measure, Sample } from "../report/row.ts";
import { figuresOf, median } from "../report/statistics.ts";
import { between, comingSteps, goingSteps, stepsOf, type Timeline } from "./timeline.ts";

/** How many times less than kubelet's. */
const wanted = 20;

/** PURE. The figures of volumes that came and went together: quantiles of the whole, medians of each step. */
export function sampleOf(timelines: readonly Timeline[]): Sample {
  const each = timelines.map((timeline) => ({
    ...stepsOf("coming", comingSteps, timeline),
    ...stepsOf("going", goingSteps, timeline),
  }));
  const names = new Set(each.flatMap((figures) => Object.keys(figures)));
  const medians = [...names].map((name) => [name, median(each.flatMap((figures) => figures[name] ?? []))] as const);
  return {
    ...figuresOf(
      "mounted",
      timelines.map((one) => between(one, "written", "ready")),
    ),
    ...figuresOf(
      "released",
      timelines.map((one) => Math.max(between(one, "deleted", "detached"), between(one, "deleted", "gone"))),
    ),
    ...Object.fromEntries(medians.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  };
}

const comingNames = {
  intent: "set written → intent",
  attachment: "intent → VolumeAttachment",
  attached: "VolumeAttachment → attached",
  granted: "attached → granted",
  ready: "granted → staged, mounted, Ready seen",
} as const;

const goingNames = {
  revoked: "set deleted → intent revoked",
  released: "revoked → unmounted, Released",
  detaching: "Released → VolumeAttachment deleted",
  detached: "deleted → VolumeAttachment gone",
  gone: "VolumeAttachment gone → intent gone",
} as const;

const ms = "ms";

/** @param many more than one volume at once: then the median of kubelet's is not known, as it tells of its pod only */
export function measuresOf(many: boolean): Measure[] {
  const last = many ? "Max" : "P50";
  return [
    ...(many ? [{ name: "need written → mounted, reported: median", unit: ms, ours: "mountedP50" } as const] : []),
    {
      name: name("need written → mounted, reported", many),
      unit: ms,
      ours: `mounted${last}`,
      kubelet: "mountedMs",
      wanted,
    },
    ...steps("coming", comingNames),
    { name: "kubelet alone: pod written → attached", unit: ms, ours: "", kubelet: "attachedMs" },
    { name: "kubelet alone: attached → pod Ready", unit: ms, ours: "", kubelet: "afterAttachedMs" },
    { name: "kubelet alone: pod without a claim → Ready", unit: ms, ours: "", kubelet: "plainPodMs" },
    ...(many ? [{ name: "need gone → detached, released: median", unit: ms, ours: "releasedP50" } as const] : []),
    { name: name("need gone → detached, released", many), unit: ms, ours: `released${last}`, kubelet: "releasedMs" },
    ...steps("going", goingNames),
  ];
}

function name(what: string, many: boolean): string {
  return many ? `${what}: the last` : what;
}

function steps(prefix: string, names: { readonly [step: string]: string }): Measure[] {
  return Object.entries(names).map(([step, text]) => ({ name: `- ${text}`, unit: ms, ours: `${prefix}.${step}` }));
}
