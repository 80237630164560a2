// From the change of a ConfigMap or Secret to the file on the node, beside a real kubelet on the same node:
// node hack/bench/content-latency.ts. See README.md.
import { cgroupOf, removeCgroup } from "../lib/kubelet-node/cgroups.ts";
import { runContentLatency } from "./content-latency/run.ts";
import { once } from "./lib/once.ts";

await once({
  script: import.meta.filename,
  measure: runContentLatency,
  tidy: (run) => removeCgroup(cgroupOf(run)),
});
