import { expect } from "chai";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { StageRecord } from "../../../../src/agent/model/volume-record.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { child, identity, intent, kubeletDir, mounted, staged, staging, target, world } from "../executor-world.ts";

describe("OperationExecutor", () => {
  for (const [what, error, left] of [
    ["that has ended", undefined, undefined],
    ["that has ended with an error", new VolumeError("SetUpFailed", "final", "no"), undefined],
    ["that was given up", new VolumeError("OperationAbandoned", "uncertain", "late"), child],
    ["in whose stead none was started", new VolumeError("OperationAbandoned", "transient", "full"), undefined],
  ] as const) {
    it(`${left === undefined ? "forgets" : "keeps on record"} a child ${what}`, async () => {
      const { host, run, kept } = await world({ child });
      host.before = async () => {
        if (error !== undefined) throw error;
      };
      expect((await run({ kind: "stage" }, intent([])))?.reason).to.equal(error?.reason);
      expect(kept()?.child).to.deep.equal(left);
    });
  }

  it("writes down what it leaves to nobody", async () => {
    const { run, kept } = await world({ stage: staged });
    await run({ kind: "retain" });
    expect(kept()?.retained).to.equal(true);
  });

  it("gives to a new intent the mounts that it names, and no others", async () => {
    const targets = [target(asMountPath("/mnt/a"), { uid: "old" }), target(asMountPath("/mnt/b"), { uid: "old" })];
    const { run, kept } = await world({ targets });
    await run({ kind: "claim" }, intent(["/mnt/a"]));
    expect(kept()?.targets.map(({ path, uid }) => [path, uid])).to.deep.equal([
      ["/mnt/a", "uid-1"],
      ["/mnt/b", "old"],
    ]);
  });

  for (const kind of ["adopt", "note"] as const) {
    it(`${kind}: takes no other mount than was seen`, async () => {
      const targets = kind === "note" ? [target(asMountPath("/mnt/a"))] : [];
      const { host, run, kept } = await world({ stage: staged, targets });
      host.entries = [...host.entries, mounted(31, "/mnt/a")];
      const before = kept();
      expect((await run({ kind, path: "/mnt/a", mountID: 30 }, intent(["/mnt/a"])))?.reason).to.equal("SetUpFailed");
      expect(kept()).to.deep.equal(before);
      expect(await run({ kind, path: "/mnt/a", mountID: 31 }, intent(["/mnt/a"]))).to.equal(undefined);
      expect(kept()?.targets[0]?.mountID).to.equal(31);
    });
  }

  it("shows nothing to the host on a path of kubelet's", async () => {
    const path = `${kubeletDir}/pods/uid/volumes/kubernetes.io~csi/v/mount`;
    const { host, run } = await world({ stage: staged });
    const failure = await run({ kind: "publish", path }, intent([path]));
    expect([failure?.reason, host.calls]).to.deep.equal(["PathNotAllowed", []]);
  });

  it("mounts in the order: the old away, the new on record, the new, and which it is", async () => {
    const { host, run, kept } = await world({
      stage: staged,
      targets: [target(asMountPath("/mnt/a"), { mountID: 31 })],
    });
    host.entries = [...host.entries, mounted(30, staging), mounted(31, "/mnt/a")];
    const failure = await run({ kind: "publish", path: "/mnt/a", replaces: 31 }, intent(["/mnt/a"]));
    expect([failure, host.calls]).to.deep.equal([undefined, ["unmount /mnt/a", "bind /mnt/a"]]);
    const [mount] = host.entries.filter(({ point }) => point === "/mnt/a");
    expect(kept()?.targets.map(({ mountID }) => mountID)).to.deep.equal([mount?.id]);
  });

  it("writes flags down before it changes them", async () => {
    const { host, change, run, kept } = await world({
      stage: staged,
      targets: [target(asMountPath("/mnt/a"), { name: "old" })],
    });
    host.entries = [...host.entries, mounted(31, "/mnt/a")];
    const names: unknown[] = [];
    change((all) => ({
      ...all,
      mounter: { ...all.mounter, setAttributes: async () => void names.push(kept()?.targets[0]?.name) },
    }));
    await run({ kind: "setAttributes", path: "/mnt/a", mountID: 31 }, intent(["/mnt/a"]));
    expect(names).to.have.length(1).and.not.to.include("old");
  });

  it("removes, when it forgets, the mount points that it made", async () => {
    const targets = [target(asMountPath("/mnt/a"), { made: true }), target(asMountPath("/mnt/b"), { made: false })];
    const { run, removed } = await world({ targets });
    await run({ kind: "forget" });
    expect(removed).to.deep.equal(["/mnt/a", staging]);
  });

  it("does not release a device that somebody has open", async () => {
    const stage: StageRecord = { kind: "device", path: "/dev/x", ready: true, options: [], deviceNumber: "8:16" };
    const { host, run, kept } = await world({ stage });
    host.evidence.hasBlockDevice = async () => true;
    expect((await run({ kind: "unstage", unmountMode: "Normal" }))?.reason).to.equal("DeviceBusy");
    expect(kept()?.stage).to.deep.equal(stage);
  });

  for (const [inode, gone] of [
    [5, ["discard"]],
    [6, ["remove"]],
  ] as const) {
    it(`a directory goes with its data only if it is the one that was made: inode ${inode}`, async () => {
      const stage: StageRecord = { kind: "directory", path: "/state/data/key", ready: true, options: [], inode: 5 };
      const { host, run } = await world({ stage });
      const how: string[] = [];
      host.directories.identify = async () => ({ device: 1, inode });
      host.directories.discard = async () => void how.push("discard");
      host.directories.remove = async () => void how.push("remove");
      expect(await run({ kind: "unstage", unmountMode: "Normal" })).to.equal(undefined);
      expect(how).to.deep.equal(gone);
    });
  }

  it("brings a file system back from a target that has it still", async () => {
    const { host, run } = await world({ stage: { ...staged, ready: false }, targets: [target(asMountPath("/mnt/a"))] });
    host.entries = [...host.entries, mounted(31, "/mnt/a")];
    expect(await run({ kind: "stage" }, intent(["/mnt/a"]))).to.equal(undefined);
    expect(host.calls).to.deep.equal([`bind ${staging}`]);
  });

  it("does not show its own state through a link", async () => {
    const { change, run } = await world();
    const source = { kind: "directory", canonicalPath: "/state/staging/other", fsType: "ext4", identity } as const;
    change((all) => ({ ...all, mounter: { ...all.mounter, inspect: async () => source } }));
    const failure = await run({ kind: "stage" }, intent(["/mnt/a"], { source: { hostPath: { path: "/srv" } } }));
    expect(failure?.reason).to.equal("SourceNotAllowed");
  });

  it("remembers which content it has written, so that it is not written again", async () => {
    const source = { configMap: { namespace: "apps", name: "settings" } };
    const stage: StageRecord = { kind: "directory", path: "/state/data/key", ready: true, options: [], identity };
    const content = { version: "u/2", data: new Map([["a", Buffer.from("b")]]) };
    const { run, kept } = await world({ type: "configMap", stage }, { content: () => content });
    expect(await run({ kind: "refresh" }, intent(["/mnt/a"], { source }))).to.equal(undefined);
    expect(kept()?.stage).to.deep.equal({ ...stage, contentVersion: "u/2" });
  });

  it("keeps on record what is to be undone, when it stages again", async () => {
    const undo = { device: "7" };
    const { host, run, kept } = await world({
      stage: { ...staged, ready: false, undo },
      targets: [target(asMountPath("/mnt/a"))],
    });
    host.entries = [...host.entries, mounted(31, "/mnt/a")];
    expect(await run({ kind: "stage" }, intent(["/mnt/a"]))).to.equal(undefined);
    expect([kept()?.stage?.ready, kept()?.stage?.undo]).to.deep.equal([true, undo]);
  });

  it("writes down that it detaches before it does, for the device may be another's from then on", async () => {
    const undo = { text: "10.0.0.1 name=admin rbd data -", image: "rbd/data" };
    const { change, run, kept } = await world({ type: "rbd", stage: { ...staged, undo } });
    const detaching: unknown[] = [];
    const find = async () => void detaching.push(kept()?.stage?.detaching);
    change((all) => ({ ...all, rbd: { ...all.rbd, find } }));
    expect(await run({ kind: "unstage", unmountMode: "Normal" })).to.equal(undefined);
    expect([detaching, kept()?.stage]).to.deep.equal([[true], undefined]);
  });
});
