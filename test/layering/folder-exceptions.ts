/**
 * Imports that the law of folders (folders.ts) does not allow, and that are there still: what is imported, why, and by
 * whom. The list may only shrink.
 */
export const folderExceptions: readonly {
  readonly to: string;
  readonly why: string;
  readonly from: readonly string[];
}[] = [
  {
    to: "src/agent/backoff/backoff.ts",
    why: "takes the types Failure and Slot, which go to model/failure.ts",
    from: ["src/agent/model/plan-input.ts", "src/agent/model/volume-plan.ts"],
  },
  {
    to: "src/agent/content/salted-digest.ts",
    why: "takes the type SaltedDigest, which goes to model/salted-digest.ts",
    from: ["src/agent/model/volume-record.ts"],
  },
  {
    to: "src/agent/desired/pod-mounts.ts",
    why: "takes podPath, which goes to model/pod-path.ts",
    from: ["src/agent/actual/unread.ts"],
  },
  {
    to: "src/agent/executor/csi/driver-mounts.ts",
    why: "takes isReadOnly, which goes to actual, as it tells a published mount",
    from: ["src/agent/actual/csi-volume.ts"],
  },
  {
    to: "src/agent/executor/csi/publish.ts",
    why: "takes stillPublished or coveredMount, which go to actual, as they tell a published mount",
    from: ["src/agent/actual/csi-volume.ts", "src/agent/planner/csi-steps.ts"],
  },
  {
    to: "src/agent/executor/fsgroup-progress.ts",
    why: "takes the type OwnershipChange, which goes to model/ownership-change.ts",
    from: ["src/agent/model/plan-input.ts", "src/agent/planner/stuck-operation.ts"],
  },
  {
    to: "src/agent/executor/operation-context.ts",
    why: "takes the type ActionContext, of which it uses the identities alone: it will take these",
    from: ["src/agent/content/pod-tokens.ts"],
  },
  {
    to: "src/agent/executor/sub-path.ts",
    why: "takes identityBeneath, which goes to model",
    from: ["src/agent/actual/build-actual-state.ts", "src/agent/planner/target-steps.ts"],
  },
  {
    to: "src/agent/orphans/start-orphan-cleanup.ts",
    why: "takes the type OrphansOfKubelet: status will have an interface of what it reads",
    from: ["src/agent/status/node-state-reporter.ts"],
  },
  {
    to: "src/agent/metrics/agent-metrics.ts",
    why: "takes the class AgentMetrics as a type: status will have an interface of what it counts",
    from: ["src/agent/status/tell-transitions.ts"],
  },
  {
    to: "src/agent/pods/kept-tokens.ts",
    why: "takes IdentitySource, noIdentities or TokenState, which go to model",
    from: [
      "src/agent/executor/operation-context.ts",
      "src/agent/executor/operation-executor.ts",
      "src/agent/model/plan-input.ts",
    ],
  },
  {
    to: "src/host/linux/evidence/kernel-exports.ts",
    why: "who uses a device is evidence, on the same line",
    from: ["src/host/linux/device/device-users.ts"],
  },
  {
    to: "src/host/linux/evidence/linux-evidence.ts",
    why: "takes bootID, which reads one file of /proc and goes to a higher line",
    from: ["src/host/linux/device/device-writes.ts", "src/host/linux/device/linux-devices.ts"],
  },
  {
    to: "src/host/linux/evidence/open-devices.ts",
    why: "who uses a device is evidence, on the same line",
    from: ["src/host/linux/device/device-users.ts"],
  },
  {
    to: "src/host/linux/evidence/remote-mounts.ts",
    why: "who uses a device is evidence, on the same line",
    from: ["src/host/linux/device/device-users.ts", "src/host/linux/device/held-device.ts"],
  },
  {
    to: "src/host/linux/rbd/meant-device.ts",
    why: "takes isMeant, which goes to child",
    from: ["src/host/linux/device/held-device.ts"],
  },
];
