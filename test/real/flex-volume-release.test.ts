import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { FlexVolumeSource } from "../../src/api/types.gen.ts";
import { need } from "../lib/asserts/requirements.ts";
import { flexDriver } from "../lib/fakes/flex-driver.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("volumes of flexvolume drivers that are given back", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const volume = (source: FlexVolumeSource, deleting = false) =>
    intent({
      source: { flexVolume: source },
      generation: deleting ? 2 : 1,
      deleting,
      mounts: [{ path: node.target("a") }],
    });
  const released = (source: FlexVolumeSource) => {
    node.want(volume(source, true));
    return node.volume(name);
  };
  const again = () => {
    node.forgetFailures();
    return node.volume(name);
  };

  slow("are in use while their driver fails to detach, also when the agent died meanwhile", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    const { image, path, commands } = flexDriver(node, "test/loop");
    const source = { driver: "test/loop", options: { image, sizeMegabytes: "16" } };
    node.want(volume(source));
    await node.converge();
    const works = readFileSync(path, "utf8");
    writeFileSync(path, works.replace("detach)", 'detach) fail "the backend is away" ;;\nnever)'));
    const found = await released(source);
    expect(found.failure?.message).to.equal("test/loop detach: the backend is away");
    expect(found.actualState.inUse).to.equal(true);
    writeFileSync(path, works);
    await node.restart();
    expect((await node.volume(name)).phase).to.equal("released");
    expect(losetup("-j", image)).to.equal("");
    expect(commands().filter((command) => command === "detach")).to.have.length(2);
  });

  slow(
    "whose device is another's by now, as the detach that was cut off had worked, are released all the same",
    async function () {
      need(this, "loop-devices", "mkfs.ext4", "ext4");
      const { image, path } = flexDriver(node, "test/loop");
      const source = { driver: "test/loop", options: { image, sizeMegabytes: "16" } };
      node.want(volume(source));
      await node.converge();
      const works = readFileSync(path, "utf8");
      writeFileSync(
        path,
        works
          .replace("detach)", 'detach) losetup -d "$(device_of "$(cat "$here"/*.attached)")"; fail "lost" ;;\nnever)')
          .replace("options=\n", `options=\nhere=${dirname(path)}\n`),
      );
      const device = losetup("-j", image, "-O", "NAME", "-n");
      expect((await released(source)).failure?.message).to.equal("test/loop detach: lost");
      const other = `${node.path}/other`;
      execFileSync("truncate", ["-s", "16M", other]);
      execFileSync("mkfs.ext4", ["-q", other]);
      losetup(device, other);
      execFileSync("mount", [device, `${node.path}/src`]);
      try {
        writeFileSync(path, works);
        expect((await again()).phase).to.equal("released");
      } finally {
        execFileSync("umount", [`${node.path}/src`]);
        losetup("-d", device);
      }
    },
  );

  it("are not forgotten with an intent that vanished, though nothing of theirs is mounted any more", async () => {
    flexDriver(node, "test/memory");
    const source = { driver: "test/memory" };
    node.want(volume(source));
    await node.converge();
    for (const { point } of node.mounts().reverse()) execFileSync("umount", [point]);
    node.want();
    await node.converge();
    expect([...(await node.journal()).records.keys()]).to.deep.equal([name]);
    expect((await released(source)).phase).to.equal("released");
  });
});

function losetup(...args: string[]): string {
  return execFileSync("losetup", args, { encoding: "utf8" }).trim();
}
