// Row 22 of the acceptance table: whom the files of a volume belong to, by the agent or by the driver.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { ClaimStories, pathOf } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";
import { endDriver, startHostPath } from "../lib/csi/host-path.ts";

slowSuite("acceptance: whom the files of a volume belong to", () => {
  let stories: Stories;
  let on: ClaimStories;
  /** Its driver leaves the files to the agent. */
  let walks: StoryNode;
  /** Its driver has VOLUME_MOUNT_GROUP. */
  let gives: StoryNode;

  before(async function () {
    stories = await startStories(this, { nodes: ["walks", "gives"], flags: { walks: ["--no-mount-group"] } });
    on = new ClaimStories(stories);
    [walks, gives] = stories.nodes as [StoryNode, StoryNode];
  });

  const groups = async (node: StoryNode, path: string) =>
    (await node.host.run("sh", "-c", `cd ${path} && stat -c '%n %g' . d d/f`)).trim().split("\n");

  it("row 22: OnRootMismatch changes nothing for a second mount, Always every file", async () => {
    const claim = await on.claim("row-22");
    const mount = { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" };
    const first = await on.used("row-22", claim, walks.name, { mount });
    await walks.host.run("sh", "-c", `cd ${first} && mkdir d && : > d/f && chmod 600 d/f && chgrp 7 d d/f`);
    const second = await on.used("row-22-same", claim, walks.name, { mount });
    expect(await groups(walks, second)).to.deep.equal([". 2000", "d 7", "d/f 7"]);
    const third = await on.used("row-22-always", claim, walks.name, { mount: { fsGroup: 2000 } });
    expect(await groups(walks, third)).to.deep.equal([". 2000", "d 2000", "d/f 2000"]);
    expect(await walks.host.run("stat", "-c", "%A %a", `${third}/d/f`)).to.equal("-rw-rw---- 660\n");

    // Another set's group would take the files away from these.
    const other = await on.use("row-22-other", claim, walks.name, { mount: { fsGroup: 3000 } });
    expect(await on.waits("row-22-other", walks.name, "FsGroupConflict")).to.contain("group 2000");
    expect(await walks.mountsAt(other)).to.deep.equal([]);
    await stories.remove("row-22", "row-22-same", "row-22-always");
    await stories.objects.ready("row-22-other", 1, 60_000);
    expect(await groups(walks, other)).to.deep.equal([". 3000", "d 3000", "d/f 3000"]);
    await on.end(["row-22-other"], claim);
  });

  it("an agent that is killed while it gives the files to the group begins again", async () => {
    const claim = await on.claim("row-22-killed");
    const first = await on.used("row-22-before", claim, walks.name);
    await walks.host.run("sh", "-c", `cd ${first} && mkdir d && : > d/f`);
    await walks.host.run("fsfreeze", "-f", first);
    let thawed = false;
    try {
      await on.use("row-22-killed", claim, walks.name, { mount: { fsGroup: 2000 } });
      await until("a child to wait for the file system", 30_000, async () =>
        / child$/m.test((await walks.host.run("ps", "-eo", "stat=,args=")).replaceAll(/^[^D].*$/gm, "")),
      );
      await walks.restartAgent();
      await on.waits("row-22-killed", walks.name, "OperationAbandoned");
      await walks.host.run("fsfreeze", "-u", first);
      thawed = true;
      await stories.objects.ready("row-22-killed", 1, 60_000);
      expect(await groups(walks, pathOf("row-22-killed"))).to.deep.equal([". 2000", "d 2000", "d/f 2000"]);
      const log = readFileSync(join(stories.world.logs, "agent-walks.log"), "utf8");
      expect(
        log.split("\n").filter((line) => line.includes("row-22-killed were given to group 2000")),
      ).to.have.lengthOf(1);
    } finally {
      if (!thawed) await walks.host.run("fsfreeze", "-u", first);
    }
    await on.end(["row-22-before", "row-22-killed"], claim);
  });

  it("nobody waits for it when the mount that asked for the group has left", async () => {
    const claim = await on.claim("row-22-left");
    const first = await on.used("row-22-stays", claim, walks.name);
    await walks.host.run("sh", "-c", `cd ${first} && mkdir d && : > d/f`);
    await walks.host.run("fsfreeze", "-f", first);
    try {
      await on.use("row-22-left", claim, walks.name, { mount: { fsGroup: 2000 } });
      let child = "";
      await until("a child to wait for the file system", 30_000, async () => {
        const processes = (await walks.host.run("ps", "-eo", "stat=,pid=,args=")).split("\n");
        child = processes.map((line) => /^D\S* +([0-9]+) .* child$/.exec(line)?.[1] ?? "").join("");
        return child !== "";
      });
      await walks.host.run("kill", "-STOP", child); // as if it had files to go through for hours
    } finally {
      await walks.host.run("fsfreeze", "-u", first);
    }
    const before = performance.now();
    await stories.remove("row-22-left");
    expect(performance.now() - before, "milliseconds; the deadline for silence is 120 s").to.be.below(60_000);
    expect((await groups(walks, first))[0]).to.equal(". 0");
    await on.end(["row-22-stays"], claim);
  });

  it("of a driver that mounts nothing when it stages, as its CSIDriver says", async () => {
    const { world } = stories;
    const driver = await startHostPath(stories, walks);
    using csi = csiCalls(driver.outside);
    const use = async (user: string, name: string, fsGroupPolicy: string, mount: object) => {
      await world.objects.csiDriver(driver.name, { attachRequired: false, fsGroupPolicy });
      const request = { name, capacityRange: { requiredBytes: "1048576" }, volumeCapabilities: [mountable()] };
      const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
      await stories.apply(user, {
        nodeSelector: { "kubernetes.io/hostname": walks.name },
        volume: { source: { csi: { driver: driver.name, volumeHandle: volume.volumeId } } },
        mounts: [{ name: "m", path: pathOf(user), ...mount }],
      });
      await stories.objects.ready(user, 1, 60_000);
      return pathOf(user);
    };
    const first = await use("host-path", "one", "File", { fsGroup: 2000 });
    await walks.host.run("sh", "-c", `cd ${first} && mkdir d && : > d/f && chgrp 7 d d/f`);
    const same = { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" };
    const second = await use("host-path-same", "one", "File", same);
    expect(await groups(walks, second)).to.deep.equal([". 2000", "d 7", "d/f 7"]);
    const third = await use("host-path-always", "one", "File", { fsGroup: 2000 });
    expect(await groups(walks, third)).to.deep.equal([". 2000", "d 2000", "d/f 2000"]);
    const left = await use("host-path-none", "two", "None", { fsGroup: 2000 });
    expect(await walks.host.run("stat", "-c", "%g", left)).to.equal("0\n");
    // No file system is named, so that kubelet's default leaves the files alone, too.
    const byDefault = await use("host-path-default", "three", "ReadWriteOnceWithFSType", { fsGroup: 2000 });
    expect(await walks.host.run("stat", "-c", "%g", byDefault)).to.equal("0\n");
    await stories.remove("host-path", "host-path-same", "host-path-always", "host-path-none", "host-path-default");
    await endDriver(stories, walks, driver);
  });

  it("a driver with VOLUME_MOUNT_GROUP gives the files to the group itself", async () => {
    const claim = await on.claim("row-22-driver");
    const path = await on.used("row-22-driver", claim, gives.name, { mount: { fsGroup: 4711 } });
    expect(await gives.host.run("stat", "-c", "%g %A", path)).to.equal("4711 drwxrwsr-x\n");
    // Nobody else has gone through them.
    await gives.host.run("sh", "-c", `: > ${path}/f && chgrp 7 ${path}/f`);
    await on.used("row-22-again", claim, gives.name, { mount: { fsGroup: 4711 } });
    expect(await gives.host.run("stat", "-c", "%g", `${path}/f`)).to.equal("7\n");
    await on.end(["row-22-driver", "row-22-again"], claim);
  });
});
