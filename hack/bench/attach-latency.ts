// From the need of a volume that attaches to where it is mounted and reported, and back, beside a real kubelet:
// KUBECONFIG=FILE node hack/bench/attach-latency.ts. See README.md.
import { locateTools } from "../lib/tools/locate.ts";
import { runAttachLatency } from "./attach-latency/run.ts";
import { once } from "./lib/once.ts";

/** The image of kubelet's pods; this one is on every node. */
const image = process.env["IMAGE"] ?? "registry.k8s.io/pause:3.10.2";

await once({
  script: import.meta.filename,
  async measure(input) {
    const { KUBECONFIG: kubeconfig } = process.env;
    const { kubectl } = await locateTools({ env: process.env, report: input.report });
    const kubelet = kubeconfig ? { kubeconfig, kubectl, image } : undefined;
    return runAttachLatency({ ...input, kubelet });
  },
});
