import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, openSync, renameSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asMountPath, asVolumeName } from "../../src/agent/model/identities.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import type { NodeVolumeIntent, VolumeSource } from "../../src/api/types.gen.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";
import { ContractRegistry, tarOf } from "../lib/servers/contract-registry.ts";

type Mount = Omit<NodeVolumeIntent["spec"]["mounts"][number], "name" | "requester" | "path" | "readOnly">;
type Mounts = { [target: string]: Mount & { readonly readOnly?: boolean } };

describe("whom the files of a volume without a driver belong to, on the real kernel", function () {
  this.timeout(60_000); // on machines that have others at work
  let node: RealNode;
  let generation = 0;

  withNode([], (made) => {
    node = made;
  });

  /** The volume with a mount for each entry, by the name of its target. */
  const want = async (source: VolumeSource, mounts: Mounts) => {
    const asked = Object.entries(mounts).map(([name, more]) => ({ name, path: node.target(name), ...more }));
    node.want(intent({ source, mounts: asked, generation: ++generation }));
    const volume = await node.volume(asVolumeName("node.volume-1"));
    expect(volume.failure?.message).to.equal(undefined);
    return volume;
  };
  /** Each file of a target with its group and rights. */
  const files = (target: string) => {
    const lines = execFileSync("find", [node.target(target), "-printf", "/%P %G %m\n"], { encoding: "utf8" });
    return lines
      .trim()
      .split("\n")

      .sort();
  };
  const fill = (path: string) => {
    mkdirSync(`${path}/d`, { mode: 0o700 });
    writeFileSync(`${path}/d/f`, "", { mode: 0o600 });
  };

  const kinds: { [kind: string]: () => VolumeSource } = {
    "emptyDir on disk": () => ({ emptyDir: {} }),
    "emptyDir in memory": () => ({ emptyDir: { medium: "Memory" } }),
    "local directory": () => {
      mkdirSync(`${node.path}/src/disk`);
      return { local: { path: `${node.path}/src/disk` } };
    },
  };
  for (const [kind, sourceOf] of Object.entries(kinds)) {
    it(`${kind}: to the group of its mounts, before each of them is there, and to another under them`, async () => {
      const source = sourceOf();
      await want(source, { a: {} });
      fill(node.target("a"));
      await want(source, { b: { fsGroup: 2000 } });
      expect(files("b").slice(1)).to.deep.equal(["/d 2000 2770", "/d/f 2000 660"]);
      expect(lstatSync(node.target("b"))).to.deep.include({ gid: 2000 });
      expect(lstatSync(node.target("b")).mode & 0o2770).to.equal(0o2770);
      using _inUse = new Descriptor(openSync(`${node.target("b")}/d/f`, "r")); // nobody could unmount it
      node.done.length = 0;
      const { record } = await want(source, { b: { fsGroup: 3000 } });
      expect(files("b").slice(1)).to.deep.equal(["/d 3000 2770", "/d/f 3000 660"]);
      expect(node.done).to.deep.equal(["publish"]);
      expect(record?.targets.map(({ owned }) => owned)).to.deep.equal([{ fsGroup: 3000 }]);
    });
  }

  it("to one group: who asks for another waits, and gets it when that is gone; who asks for none takes them as they are", async () => {
    const source = { emptyDir: {} };
    await want(source, { a: { fsGroup: 2000 } });
    fill(node.target("a"));
    const volume = await want(source, { a: { fsGroup: 2000 }, b: { fsGroup: 3000 }, c: {} });
    expect(volume.problems.targets.get(asMountPath(node.target("b")))).to.deep.include({ reason: "FsGroupConflict" });
    expect(node.mountAt(node.target("b"))).to.equal(undefined);
    expect(files("c")).to.deep.equal(files("a"));
    await want(source, { b: { fsGroup: 3000 } });
    expect(files("b").slice(1)).to.deep.equal(["/d 3000 2770", "/d/f 3000 660"]);
    await want(source, { b: {} });
    expect(lstatSync(node.target("b")).gid, "nothing is taken back").to.equal(3000);
  });

  it("again for each further mount with Always, and not with OnRootMismatch where the root fits, also after a restart", async () => {
    const source = { emptyDir: {} };
    await want(source, { a: { fsGroup: 2000 } });
    fill(node.target("a"));
    await node.restart();
    await want(source, { a: { fsGroup: 2000 }, b: { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" } });
    expect(files("b")[1]).to.equal("/d 2000 2700"); // as it was made: the directory above has passed the group on
    await want(source, { a: { fsGroup: 2000 }, c: { fsGroup: 2000 } });
    expect(files("c")[1]).to.equal("/d 2000 2770");
    expect(node.log.map((line) => line.split(" ")[1])).to.deep.equal(["1", "0", "3"]);
  });

  it("not for a mount that only reads, nor again for one whose flags change", async () => {
    const source = { emptyDir: {} };
    await want(source, { a: { fsGroup: 2000, readOnly: true } });
    expect(lstatSync(node.target("a")).gid).to.equal(0);
    await want(source, { b: { fsGroup: 2000 } });
    await want(source, { b: { fsGroup: 2000, mountOptions: ["noexec"] } });
    expect(node.mountAt(node.target("b"))?.options).to.include("noexec");
    expect(node.log).to.have.length(1);
    expect(lstatSync(node.target("b")).mode & 0o7777, "staged anew, it passes the group on as before").to.equal(0o2777);
  });

  it("of what its path names now: what was renamed beneath a mount stays as it is", async () => {
    const source = kinds["local directory"]?.() ?? {};
    const directory = `${node.path}/src/disk`;
    await want(source, { a: {} });
    renameSync(directory, `${directory}.moved`);
    mkdirSync(directory, { mode: 0o700 });
    await want(source, { a: { fsGroup: 2000 } });
    expect([lstatSync(directory).gid, lstatSync(`${directory}.moved`).gid]).to.deep.equal([2000, 0]);
    expect(lstatSync(node.target("a")).gid).to.equal(2000);
  });

  describe("content", () => {
    const put = (name: string, version: string, data: { [key: string]: string }) =>
      node.contents.set(name, { version, data: new Map(Object.entries(data).map(([k, v]) => [k, Buffer.from(v)])) });
    const shown = (target: string) => files(target).map((line) => line.replace(/\.\.payload-\w+/, "..payload"));

    it("is written for the group, with its rights, and for another at once, links and all", async () => {
      put("cm", "1", { a: "x" });
      const items = [{ key: "a", path: "d/a" }];
      const source = { configMap: { namespace: "default", name: "cm", defaultMode: 0o400, items } };
      await want(source, { a: { fsGroup: 2000 } });
      const all = (group: number) => [
        `/ ${group} 2755`,
        `/..data ${group} 777`,
        `/..payload ${group} 2755`,
        `/..payload/d ${group} 2755`,
        `/..payload/d/a ${group} 440`,
        `/d ${group} 777`,
      ];
      expect(shown("a")).to.deep.equal(all(2000));
      const bind = node.mountAt(node.target("a"))?.id;
      await want(source, { a: { fsGroup: 3000 } });
      expect([shown("a"), node.mountAt(node.target("a"))?.id]).to.deep.equal([all(3000), bind]);
      put("cm", "2", { a: "y" });
      const { record } = await want(source, { a: {} });
      expect(shown("a"), "nothing is taken back").to.deep.equal(all(3000));
      expect(record?.stage?.fsGroup).to.equal(3000);
      node.done.length = 0;
      await node.restart();
      await want(source, { a: { fsGroup: 3000 } });
      expect(node.done).to.deep.equal([]);
    });

    it("goes to one group: who asks for another waits, and the content changes meanwhile", async () => {
      put("secret", "1", { a: "x" });
      const source = { secret: { namespace: "default", secretName: "secret" } };
      await want(source, { a: { fsGroup: 2000 } });
      put("secret", "2", { a: "y" });
      const volume = await want(source, { a: { fsGroup: 2000 }, b: { fsGroup: 3000 } });
      expect(volume.problems.targets.get(asMountPath(node.target("b")))).to.deep.include({ reason: "FsGroupConflict" });
      expect(summaryOf(volume).ready).to.equal("False");
      expect(files("a").filter((line) => line.endsWith("/a 2000 644"))).to.have.length(1);
      expect(node.mountAt(node.target("b"))).to.equal(undefined);
      const after = await want(source, { b: { fsGroup: 3000 } });
      expect(summaryOf(after).ready).to.equal("True");
      expect(files("b").every((line) => line.includes(" 3000 "))).to.equal(true);
    });

    it("of a projected volume: a token is for its owner and the group alone, as by kubelet", async () => {
      put("cm", "1", { a: "x" });
      put("robot", "1", { token: "t" });
      const token = { namespace: "default", serviceAccountName: "robot", path: "token" };
      const sources = [{ configMap: { namespace: "default", name: "cm" } }, { serviceAccountToken: token }];
      await want({ projected: { sources } }, { a: { fsGroup: 2000 } });
      const [a, shownToken] = ["/a", "/token"].map((name) =>
        shown("a").find((line) => line.includes(`..payload${name} `)),
      );
      expect([a, shownToken]).to.deep.equal(["/..payload/a 2000 644", "/..payload/token 2000 640"]);
    });
  });

  it("an image may be read by the group, files of its own groups too, and written to by nobody", async () => {
    using registry = new ContractRegistry();
    await registry.listen();
    const tar = tarOf(
      { name: "d/", type: "5", mode: 0o700 },
      { name: "d/f", content: "x", mode: 0o600, uid: 7 },
      { name: "link", type: "2", target: "d/f" },
    );
    const source = { image: { reference: registry.reference(registry.image(registry.layer(tar))) } };
    await want(source, { a: { fsGroup: 2000 } });
    expect(files("a").slice(1)).to.deep.equal(["/d 2000 2750", "/d/f 2000 640", "/link 2000 777"]);
    expect(lstatSync(`${node.target("a")}/d/f`).uid).to.equal(7);
    await node.restart();
    node.done.length = 0;
    await want(source, { a: { fsGroup: 2000 } });
    expect(node.done).to.deep.equal([]);
  });

  slow("a file system on a disk, mounted anew too", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    const { path } = node.keep(loopDevice(`${node.path}/disks`, "disk", 32));
    const spec = { source: { local: { path } }, fsType: "ext4" } as const;
    const mounts = [{ path: node.target("a"), fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" as const }];
    for (const expected of ["2 files", "0 files"]) {
      node.want(intent({ ...spec, mounts, generation: ++generation }));
      expect((await node.volume(asVolumeName("node.volume-1"))).failure?.message).to.equal(undefined);
      expect(files("a")).to.deep.equal(["/ 2000 2775", "/lost+found 2000 2770"]);
      expect(node.log.at(-1)).to.include(`${expected} of ${node.target("a")} were given to group 2000`);
      node.want(intent({ ...spec, mounts, deleting: true, generation: ++generation }));
      expect((await node.volume(asVolumeName("node.volume-1"))).phase).to.equal("released");
    }
  });

  it("says whose they are when the agent cannot change it", async () => {
    const source = kinds["local directory"]?.() ?? {};
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0700", "disk", `${node.path}/src/disk`]);
    chownSync(`${node.path}/src/disk`, 0, 7);
    chmodSync(`${node.path}/src/disk`, 0o700);
    execFileSync("mount", ["-o", "remount,ro", `${node.path}/src/disk`]);
    const { record } = await want(source, { a: { fsGroup: 2000 } });
    expect(record?.targets[0]?.owned).to.deep.include({ fsGroup: 2000 });
    expect(record?.targets[0]?.owned?.refusedGroup).to.deep.include({ failed: 1, entries: 1, example: "/: EROFS" });
  });
});
