import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("an observed volume, on the real kernel", () => {
  let node: RealNode;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
    mkdirSync(node.target("a"));
  });

  const observe = (source: VolumeSource) =>
    node.want(intent({ mode: "Observe", source, mounts: [{ path: node.target("a") }] }));
  const said = async () => {
    const { ready, reason } = summaryOf(await node.volume(name));
    return `${ready} ${reason}`;
  };

  it("a disk that somebody mounted there is what the spec says, another one is not", async () => {
    const [disk, other] = ["disk", "other"].map((file) => node.keep(loopDevice(`${node.path}/disks`, file, 16)).path);
    for (const device of [disk, other]) execFileSync("mkfs.ext4", ["-q", device ?? ""]);
    observe({ local: { path: disk ?? "" } });
    expect(await said()).to.equal("False WouldChange");
    execFileSync("mount", [other ?? "", node.target("a")]);
    expect(await said()).to.equal("False ForeignMount");
    execFileSync("umount", [node.target("a")]);
    execFileSync("mount", [disk ?? "", node.target("a")]);
    expect(await said()).to.equal("True Observing");
    expect(node.done, "it only looked").to.deep.equal(["observe"]);
  });

  it("a source that is mounted later is looked at again", async () => {
    mkdirSync(`${node.path}/src/data`);
    execFileSync("mount", ["--bind", "--make-private", `${node.path}/src/data`, node.target("a")]);
    observe({ hostPath: { path: `${node.path}/src/data` } });
    expect(await said()).to.equal("True Observing");
    execFileSync("mount", ["-t", "tmpfs", "later", `${node.path}/src/data`]);
    expect(await said(), "the target shows what is hidden at the source").to.equal("False ForeignMount");
    expect(node.done).to.deep.equal(["observe", "observe"]);
  });
});
