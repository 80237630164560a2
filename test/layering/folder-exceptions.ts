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
    to: "src/host/linux/evidence/kernel-exports.ts",
    why: "who uses a device is evidence, on the same line",
    from: ["src/host/linux/device/device-users.ts"],
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
