import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { expect } from "chai";
import type { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { name, withPodAgent } from "../lib/kernel/agents/pod-agent.ts";

describe("volumes for pods of which the journal is lost, on the real kernel", () => {
  let agent: KernelAgent;
  const { targetOf, call, want, layers, inStates, mountedAnew } = withPodAgent((given) => {
    agent = given;
  });

  it("are known again, and are given back", async () => {
    want(["a"]);
    await agent.publish(call("a"));
    await agent.kill();
    rmSync(`${agent.path}/state/journal`);
    await agent.start();
    await inStates("a Mounted");
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    expect(layers("a")).to.equal(0);
  });

  it("are given back while the intent is being deleted", async () => {
    want(["a"]);
    await agent.publish(call("a"));
    await agent.kill();
    rmSync(`${agent.path}/state/journal`);
    agent.revoke(name);
    await agent.start();
    await agent.waitsFor(name, "ConsumerStillRunning");
    expect(await agent.unpublish(targetOf("a"), 5_000)).to.equal(undefined);
    await agent.inState(name, "Released"); // never while it is mounted
  });

  for (const [what, source] of [
    ["a path of the host", undefined],
    ["our own directory", { emptyDir: {} }],
    ["a file system that we have staged", { emptyDir: { medium: "Memory" } }],
  ] as const) {
    it(`are given back where no intent names the pod any more: ${what}`, async () => {
      want(["a", "b"], source && { source });
      expect(await agent.publish(call("a"))).to.equal(undefined);
      await agent.kill();
      rmSync(`${agent.path}/state/journal`);
      want(["b"], source && { source });
      await agent.start();
      await mountedAnew();
      mkdirSync(targetOf("c").path, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "foreign", targetOf("c").path]);
      expect(await agent.unpublish(targetOf("c"))).to.include({ kind: "waiting", reason: "ForeignMount" });
      expect(layers("c"), "of somebody else").to.equal(1);
      expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
      expect([layers("a"), existsSync(targetOf("a").path)]).to.deep.equal([0, false]);
      agent.revoke(name);
      await agent.inState(name, "Released");
    });
  }
});
