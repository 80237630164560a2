import { existsSync } from "node:fs";
import { expect } from "chai";
import type { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { need } from "../lib/asserts/requirements.ts";
import { name, withPodAgent } from "../lib/kernel/agents/pod-agent.ts";
import { keepNamespace } from "../lib/kernel/kept-namespace.ts";
import { withoutPtrace } from "../lib/kernel/without-ptrace.ts";

describe("a pod's volume that is given back, where the kernel lists mount namespaces", () => {
  let agent: KernelAgent;
  const { targetOf, call, want } = withPodAgent((given) => {
    agent = given;
  });
  before(function () {
    need(this, "listed-namespaces");
  });
  const memory = { source: { emptyDir: { medium: "Memory" } } } as const;

  it("and released, although processes of the node cannot be read", async () => {
    await withoutPtrace(agent);
    want(["a"], memory);
    expect(await agent.publish(call("a"))).to.equal(undefined);
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    agent.revoke(name);
    await agent.inState(name, "Released");
  });

  it("goes with its pod, and stays StillReferenced while a file keeps a namespace with a copy of it", async () => {
    want(["a"], memory);
    expect(await agent.publish(call("a"))).to.equal(undefined);
    using kept = keepNamespace("/tmp/keeps");
    expect(await agent.unpublish(targetOf("a")), "the pod is not held up").to.equal(undefined);
    expect(existsSync(targetOf("a").path)).to.equal(false);
    agent.revoke(name);
    const { waiting, inUse } = await agent.waitsFor(name, "StillReferenced");
    expect(inUse).to.equal(true);
    expect(waiting?.message).to.contain(`mount namespace ${kept.name}`).and.to.contain("findmnt -t nsfs");
    expect(waiting?.on).to.deep.equal({ kind: "MountNamespace", name: kept.name });
    kept[Symbol.dispose]();
    await agent.inState(name, "Released");
  });
});
