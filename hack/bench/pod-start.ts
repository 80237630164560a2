// The same pod with the same kind of claim, by our driver and by kubelet itself, on one real kubelet in turns:
// node hack/bench/pod-start.ts. See README.md.
import { cgroupOf, removeCgroup } from "../lib/kubelet-node/cgroups.ts";
import { once } from "./lib/once.ts";
import { runPodStart } from "./pod-start/run.ts";

await once({
  script: import.meta.filename,
  measure: runPodStart,
  tidy: (run) => removeCgroup(cgroupOf(run)),
});
