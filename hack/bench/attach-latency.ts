// From the need of a volume that attaches to where it is mounted and reported, and back, beside a real kubelet:
// node hack/bench/attach-latency.ts. See README.md.
import { cgroupOf, removeCgroup } from "../lib/kubelet-node/cgroups.ts";
import { runAttachLatency } from "./attach-latency/run.ts";
import { once } from "./lib/once.ts";

await once({
  script: import.meta.filename,
  measure: runAttachLatency,
  tidy: (run) => removeCgroup(cgroupOf(run)),
});
