import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { asMountPath } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type DriverNode, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("the SELinux label of a CSI volume, on a kernel that is taken for one with SELinux", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
    given.node.seLinux = true;
  });

  let generation = 0;
  const want = (mounts: { [target: string]: string | undefined }, of: object = { seLinuxMount: true }) => {
    const asked = Object.entries(mounts).map(([name, level]) => ({
      name,
      path: there.node.target(name),
      ...(level !== undefined && { seLinuxOptions: { level } }),
    }));
    there.node.want(there.volume({ of, mounts: asked, generation: ++generation }));
    return there.node.converge();
  };
  const flags = () =>
    there.driver.requests
      .filter(({ capability }) => capability !== undefined)
      .map(
        ({ call, capability }) => `${call} ${(capability as { volume: { mountFlags: string[] } }).volume.mountFlags}`,
      );

  it("is asked for when it is staged and published", async () => {
    await want({ a: "s0:c1,c2" });
    const option = 'context="system_u:object_r:container_file_t:s0:c1,c2"';
    expect(flags()).to.deep.equal([`stage ${option}`, `publish ${option}`]);
  });

  it("another one takes the volume down first, and stages it anew", async () => {
    await want({ a: "s0:c1,c2" });
    await want({ a: "s0:c3" });
    expect(there.driver.kinds.slice(2)).to.deep.equal(["unpublish", "unstage", "stage", "publish"]);
    expect(flags().at(-1)).to.equal('publish context="system_u:object_r:container_file_t:s0:c3"');
    await want({ a: undefined });
    expect(flags().at(-1)).to.equal("publish ");
    await there.node.restart();
    await there.node.converge();
    expect(there.driver.kinds.slice(6)).to.deep.equal(["unpublish", "unstage", "stage", "publish"]);
  });

  it("a mount with another one waits and names who has it; one without takes the volume as it is", async () => {
    await want({ b: "s0:c1,c2" });
    await want({ a: "s0:c3", b: "s0:c1,c2", c: undefined });
    const [volume] = (await there.node.plan()).volumes.values();
    const problem = volume?.problems.targets.get(asMountPath(there.node.target("a")));
    expect(problem).to.deep.include({
      reason: "SELinuxContextConflict",
      on: { kind: "Mount", name: there.node.target("b") },
    });
    expect(there.driver.kinds).to.deep.equal(["stage", "publish", "publish"]);
  });

  it("is not asked for where the driver takes none, and ignored where the kernel has no SELinux", async () => {
    await want({ a: "s0:c1", b: "s0:c2" }, {});
    there.node.seLinux = false;
    await want({ a: "s0:c1", b: "s0:c2" });
    expect(flags()).to.deep.equal(["stage ", "publish ", "publish "]);
  });

  it("row 21: on a kernel with SELinux all files have it, and another one after it was staged anew", async function () {
    need(this, "selinux");
    there.driver.labels = true;
    const labelOf = (level: string) => `system_u:object_r:container_file_t:${level}`;
    const shown = () => execFileSync("stat", ["-c", "%C", there.node.target("a")], { encoding: "utf8" }).trim();
    await want({ a: "s0:c1,c2" });
    expect(shown()).to.equal(labelOf("s0:c1,c2"));
    await want({ a: "s0:c3,c4" });
    expect(shown()).to.equal(labelOf("s0:c3,c4"));
  });
});
