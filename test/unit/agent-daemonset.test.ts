import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { stopFormatMs } from "../../src/agent/loop.ts";
import { longestEndMs } from "../../src/csi/server/pod-driver.ts";

interface DaemonSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly priorityClassName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly tolerations: readonly object[];
      };
    };
  };
}

describe("the agent's DaemonSet", () => {
  const daemonSet = load(readFileSync(join(root, "config/agent/daemonset.yaml"), "utf8")) as DaemonSet;
  const { priorityClassName, terminationGracePeriodSeconds, tolerations } = daemonSet.spec.template.spec;

  it("is of the last pods to go when a node is shut down, and of those that nothing drives away", () => {
    // kubelet ends the pods of each priority in turn, and waits for their volumes to be unmounted before the next.
    expect(priorityClassName).to.equal("system-node-critical");
    expect(tolerations).to.deep.equal([{ operator: "Exists" }]);
  });

  it("gives the agent longer to end than that takes at most", () => {
    expect(terminationGracePeriodSeconds * 1_000).to.be.greaterThan(longestEndMs + stopFormatMs);
  });
});
