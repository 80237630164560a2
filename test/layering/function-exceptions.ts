/**
 * Functions with more lines of their own than a function may have (functions.ts), that are there still. The list may
 * only shrink: an entry whose function is short enough goes.
 */
export const functionExceptions: readonly { readonly path: string; readonly name: string }[] = [
  { path: "src/controller/attach/volume-index.ts", name: "createVolumeIndex" },
  { path: "src/controller/queues/triggers.ts", name: "connectTriggers" },
  { path: "src/kube/keyed-queue.ts", name: "createKeyedQueue" },
  { path: "src/kube/policies/policy-watch.ts", name: "createPolicyWatch" },
  { path: "src/kube/watch/reflector.ts", name: "createReflector" },
];
