import { existsSync, mkdirSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { noProblems } from "../../src/agent/model/actual-volume.ts";
import { asMountPath, asVolumeName } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("changes of the spec, on the real kernel", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const memory = { emptyDir: { medium: "Memory" } } as const;
  const one = (more: object = {}, mount: object = {}) =>
    intent({ source: source(), ...more, mounts: [{ path: node.target("a"), ...mount }] });

  it("options of a shared mount change by mounting again, because flags do not propagate", async () => {
    node.want(one());
    await node.converge();
    node.done.length = 0;
    node.want(one({ generation: 2 }, { readOnly: true, mountOptions: ["noexec", "noatime"] }));
    await node.converge();
    expect(node.mountAt(node.target("a"))?.options).to.include.members(["ro", "noexec", "noatime"]);
    expect(node.done).to.deep.equal(["publish"]);
  });

  it("a path changes new first, then old", async () => {
    node.want(one());
    await node.converge();
    node.done.length = 0;
    node.want(intent({ source: source(), generation: 2, mounts: [{ path: node.target("b") }] }));
    await node.converge();
    expect(node.done).to.deep.equal(["publish", "unpublish"]);
    expect(node.mounts().map((mount) => mount.point)).to.deep.equal([node.target("b")]);
    expect(existsSync(node.target("a"))).to.equal(false);
  });

  it("another source is another intent: the old one goes first on the same path", async () => {
    mkdirSync(`${node.path}/other`);
    node.want(one());
    await node.converge();
    const other = intent({
      name: "node.other-1",
      source: { hostPath: { path: `${node.path}/other` } },
      mounts: [{ path: node.target("a") }],
    });
    node.want(one({ deleting: true, generation: 2 }), other);
    await node.converge();
    expect(node.mountAt(node.target("a"))?.root).to.equal("/other");
    expect(node.mounts()).to.have.length(1);
  });

  it("two intents on one path: what is mounted stays, and neither gets a path that none had", async () => {
    const other = (path: string) => intent({ name: "node.other-1", source: memory, mounts: [{ path }] });
    node.want(one(), other(node.target("a/below")));
    const plan = await node.converge();
    expect(plan.volumes.get(name)?.problems.targets.get(asMountPath(node.target("a")))?.reason).to.equal(
      "PathConflict",
    );
    expect(
      plan.volumes.get(asVolumeName("node.other-1"))?.problems.targets.get(asMountPath(node.target("a/below")))?.reason,
    ).to.equal("PathConflict");
    node.want(one());
    await node.converge();
    node.want(one(), other(node.target("a")));
    const second = await node.converge();
    expect(second.volumes.get(name)?.problems).to.deep.equal(noProblems);
    expect(
      second.volumes.get(asVolumeName("node.other-1"))?.problems.targets.get(asMountPath(node.target("a")))?.reason,
    ).to.equal("PathConflict");
  });
});
