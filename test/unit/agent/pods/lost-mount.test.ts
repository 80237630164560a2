import { expect } from "chai";
import { publishPathIn } from "../../../../src/agent/executor/csi/paths.ts";
import { lostMount } from "../../../../src/agent/pods/lost-mount.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { record, stageRecord } from "../../../lib/builders/plan-world.ts";
import { pathOf, settings } from "./pod-world.ts";

const path = pathOf("a");
const disk = { device: "8:1", fsType: "ext4", source: "/dev/sda1" };
const root = entry({ id: 1, parent: 0, point: "/", ...disk });
const published = publishPathIn("/csi/volume", path);
const ofPod = (more: Partial<MountEntry> = {}) => entry({ id: 30, point: path, ...more });
const onHost = record({ stage: stageRecord({ kind: "path", identity: { device: "8:1", root: "/srv/data" } }) });

describe("the mount of a pod of which the record was lost", () => {
  const ours: readonly [string, readonly MountEntry[]][] = [
    ["a file system on our staging path", [entry({ id: 10, point: "/state/staging/key" }), ofPod()]],
    ["a part of it", [entry({ id: 10, point: "/state/staging/key" }), ofPod({ root: "/part" })]],
    ["a directory of ours", [ofPod({ ...disk, root: "/state/data/key" })]],
    ["a path of the host that is on record", [ofPod({ ...disk, root: "/srv/data/part" })]],
    ["what a driver has published for this very target", [entry({ id: 10, point: published }), ofPod()]],
  ];
  for (const [what, mounts] of ours) {
    it(`is ours: ${what}`, () => {
      const table = new MountTable([root, ...mounts]);
      expect(lostMount(path, { table, settings, records: [onHost] })?.id).to.equal(30);
    });
  }

  const others: readonly [string, readonly MountEntry[]][] = [
    ["nothing", []],
    ["another file system", [entry({ id: 10, point: "/state/staging/key" }), ofPod({ device: "0:99" })]],
    [
      "another export with the same number",
      [entry({ id: 10, point: "/state/staging/key" }), ofPod({ source: "srv:/x" })],
    ],
    ["another path of the host", [ofPod({ ...disk, root: "/srv/database" })]],
    [
      "what a driver has published for another",
      [entry({ id: 10, point: publishPathIn("/csi/v", pathOf("b")) }), ofPod()],
    ],
    ["two mounts", [entry({ id: 10, point: "/state/staging/key" }), ofPod(), ofPod({ id: 31, parent: 30 })]],
  ];
  for (const [what, mounts] of others) {
    it(`is not taken for ours: ${what}`, () => {
      const table = new MountTable([root, ...mounts]);
      expect(lostMount(path, { table, settings, records: [onHost] })).to.equal(undefined);
    });
  }
});
