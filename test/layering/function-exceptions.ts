/**
 * Functions with more lines of their own than a function may have (functions.ts), that are there still. The list may
 * only shrink: an entry whose function is short enough goes.
 */
export const functionExceptions: readonly { readonly path: string; readonly name: string }[] = [
  { path: "src/cli/commands/differences.ts", name: "differencesOf" },
  { path: "src/config.ts", name: "parseConfig" },
  { path: "src/controller/attach/volume-index.ts", name: "createVolumeIndex" },
  { path: "src/controller/controllers.ts", name: "createWork" },
  { path: "src/controller/intents/gather.ts", name: "createGatherer" },
  { path: "src/controller/metrics.ts", name: "createMetrics" },
  { path: "src/controller/observe/observe.ts", name: "createObserve" },
  { path: "src/controller/page/overview-of.ts", name: "overviewOf" },
  { path: "src/controller/queues/triggers.ts", name: "connectTriggers" },
  { path: "src/controller/reconcilers/volume-controller.ts", name: "createVolumeWork" },
  { path: "src/controller/start.ts", name: "startController" },
  { path: "src/explain/attachment.ts", name: "attachmentFindings" },
  { path: "src/host/linux/child-main.ts", name: "runChild" },
  { path: "src/host/linux/syscall/libc.ts", name: "loadLibc" },
  { path: "src/kube/keyed-queue.ts", name: "createKeyedQueue" },
  { path: "src/kube/policies/policy-watch.ts", name: "createPolicyWatch" },
  { path: "src/kube/watch/reflector.ts", name: "createReflector" },
];
