import { type Seed, seedsOf } from "./seed.ts";

/** The planner: what is told of it. */
export const ofStatus: readonly Seed[] = [
  ...seedsOf("planner", "src/agent/status/intent-status.ts", [
    [
      "says once in use, always in use",
      "inUse: volume.actualState.inUse || isBeingSetUp(volume),",
      "inUse: previous.inUse === true || volume.actualState.inUse || isBeingSetUp(volume),",
      { kubelet: "#33203 #74971: volumesInUse is stuck", test: "test/unit/agent/status/status-past.test.ts" },
    ],
    ["calls free what is being set up", " || isBeingSetUp(volume),", ","],
    [
      "takes over the past of another object of the name",
      "intent.metadata.uid === intent.status?.observedUID ? intent.status : {};",
      "intent.status ?? {};",
    ],
    [
      "writes the same state into history again and again",
      "  if (before.at(-1)?.state === volumeState.state) return before;\n",
      "",
    ],
    [
      "does not say for which grant it speaks",
      "    ...(intent.spec.grant && { grantID: intent.spec.grant.id }),\n",
      "",
    ],
    ["does not say how far a volume has grown", "    ...capacityOf(volume),\n", ""],
    [
      "forgets the last error before the volume is ready",
      'volumeState.ready === "True" ? undefined : previous.lastError',
      "undefined",
    ],
  ]),
  ...seedsOf("planner", "src/agent/status/volume-summary.ts", [
    [
      "says only that it waits",
      "message: cut(what.message, 1024),",
      'message: "timed out waiting for the condition",',
      {
        kubelet: "#114167 #110158: why a volume is not mounted is not said",
        test: "test/unit/agent/status/intent-status.test.ts",
      },
    ],
    [
      "waits since now, each time",
      "previous?.reason === reason ? previous.since : timestamp(context.now)",
      "timestamp(context.now)",
    ],
  ]),
  ...seedsOf("planner", "src/agent/status/volume-summary.ts", [
    ["calls ready what the kernel has made read-only", "late.length === 0 && !flipped &&", "late.length === 0 &&"],
    ["calls ready what has no mount that is wanted", "const shown =\n    late.length === 0 && ", "const shown = "],
    [
      "lets a pod's target make the volume of all others not ready",
      "target.desired?.pod === undefined && !isInSync(target)",
      "!isInSync(target)",
    ],
  ]),
  ...seedsOf("planner", "src/agent/planner/incremental/plan-dependencies.ts", [
    ["misses that an operation has begun or ended", "    running: input.pendingOperations.get(name),\n", ""],
    ["misses that a server does not answer any more", "    unresponsive: input.unresponsive?.get(name),\n", ""],
  ]),
  ...seedsOf("planner", "src/agent/planner/incremental/incremental-planner.ts", [
    [
      "misses that kubelet has given something back",
      "    for (const path of closingPods ?? []) addAll(names, this.#owners.volumesOn(path));\n",
      "",
    ],
  ]),
];
