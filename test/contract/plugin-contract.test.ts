import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import { sourceType } from "../../src/plugins/registry.ts";
import { loopDevice } from "../lib/loop-device.ts";
import { RealNode } from "../lib/real-node.ts";
import { need } from "../lib/requirements.ts";
import { type Case, isEmptyOrToken } from "./case.ts";
import { cephCases } from "./ceph-cases.ts";
import { contentCases } from "./content-cases.ts";
import { flexVolumeCases } from "./flex-volume-cases.ts";
import { gitCase } from "./git-case.ts";
import { glusterfsCases } from "./glusterfs-cases.ts";
import { imageCase } from "./image-case.ts";
import { networkCases } from "./network-cases.ts";

const token = "what was written";

const cases: readonly Case[] = [
  { title: "emptyDir on disk", source: () => ({ emptyDir: {} }), shows: isEmptyOrToken, keepsData: false },
  {
    title: "emptyDir in memory",
    source: () => ({ emptyDir: { medium: "Memory", sizeLimit: "8Mi" } }),
    shows: isEmptyOrToken,
    keepsData: false,
  },
  {
    title: "hostPath of a directory",
    source(node) {
      writeFileSync(`${node.path}/src/here`, "");
      return { hostPath: { path: `${node.path}/src`, type: "Directory" } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    keepsData: true,
  },
  {
    title: "hostPath that is made",
    source: (node) => ({ hostPath: { path: `${node.path}/src/a/b`, type: "DirectoryOrCreate" } }),
    shows: isEmptyOrToken,
    keepsData: true,
  },
  {
    title: "local directory",
    source(node) {
      writeFileSync(`${node.path}/src/here`, "");
      return { local: { path: `${node.path}/src` } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    keepsData: true,
  },
  {
    title: "local block device, formatted with ext4",
    needs: ["loop-devices", "mkfs.ext4", "ext4"],
    source: (node) => ({ local: { path: emptyDevice(node) } }),
    spec: { fsType: "ext4" },
    shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
    keepsData: true,
  },
  {
    title: "local block device, formatted with xfs",
    needs: ["loop-devices", "mkfs.xfs", "xfs"],
    source: (node) => ({ local: { path: emptyDevice(node, 320) } }),
    spec: { fsType: "xfs" },
    shows: isEmptyOrToken,
    keepsData: true,
  },
  ...networkCases,
  ...contentCases,
  ...flexVolumeCases,
  gitCase,
  imageCase,
  ...glusterfsCases,
  ...cephCases,
];

for (const { title, needs = [], open, source, spec = {}, shows, keepsData, readOnly = false } of cases) {
  describe(`plugin contract: ${title}`, function () {
    if (open !== undefined) this.timeout(60_000); // of a server that is shared with a busy machine
    let node: RealNode;
    let wanted: VolumeSource;

    let shared: AsyncDisposable | undefined;

    before(async function () {
      need(this, "root", ...needs);
      this.timeout(180_000);
      shared = await open?.(this);
    });
    after(async () => {
      await shared?.[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      node = new RealNode();
      wanted = await source(node);
    });
    afterEach(async () => {
      await node[Symbol.asyncDispose]();
    });

    const make = (options: { deleting?: boolean; generation?: number } = {}) =>
      intent({
        source: wanted,
        ...spec,
        ...options,
        mounts: [{ path: node.target("rw") }, { path: node.target("deep/ro"), readOnly: true }],
      });

    async function setUp(): Promise<void> {
      node.want(make());
      const volume = await node.volume("node.volume-1");
      expect(volume.failure?.message).to.equal(undefined);
      expect([...volume.problems]).to.deep.equal([]);
    }

    it("is mounted on each target with its options, and then nothing is left to do", async () => {
      await setUp();
      shows(node.target("rw"));
      shows(node.target("deep/ro"));
      expect(node.mountAt(node.target("rw"))?.options).to.include.members(["nosuid", "nodev", readOnly ? "ro" : "rw"]);
      expect(node.mountAt(node.target("deep/ro"))?.options).to.include("ro");
      const before = node.done.length;
      await node.converge();
      expect(node.done.length).to.equal(before);
    });

    it("is found as it is after a restart: no mount is touched", async () => {
      await setUp();
      const before = node.mounts();
      await node.restart();
      await node.converge();
      expect(node.mounts()).to.deep.equal(before);
    });

    it("comes back, with its data, when anything of it is unmounted behind our back", async () => {
      await setUp();
      const mount = node.mountAt(node.target("rw"));
      if (!readOnly && mount !== undefined) writeFileSync(`${node.target("rw")}/token`, token);
      for (const { point } of node.mounts().reverse()) {
        execFileSync("umount", [point]);
        await setUp();
        shows(node.target("rw"));
        if (!readOnly)
          expect(readFileSync(`${node.target("deep/ro")}/token`, "utf8"), `after ${point}`).to.equal(token);
      }
    });

    it("staging again is harmless when a crash came before its end was written down", async () => {
      await setUp();
      const journal = await node.journal();
      const record = journal.records.get("node.volume-1");
      if (record?.stage === undefined) throw new Error("no stage on record");
      await journal.put({ ...record, stage: { ...record.stage, ready: false } });
      const before = node.mounts();
      await setUp();
      expect(node.mounts()).to.deep.equal(before);
      expect((await node.journal()).records.get("node.volume-1")?.stage?.ready).to.equal(true);
    });

    it("is released without a trace; data stays only where it is not ours", async () => {
      await setUp();
      if (!readOnly) writeFileSync(`${node.target("rw")}/token`, token);
      node.want(make({ deleting: true, generation: 2 }));
      const volume = await node.volume("node.volume-1");
      await node.host.directories.emptyTrash();
      expect(volume.phase, volume.failure?.message).to.equal("released");
      expect(node.mounts()).to.deep.equal([]);
      expect(existsSync(node.target("rw"))).to.equal(false);
      const left = ["data", "staging", "trash"].flatMap((name) => listIfThere(`${node.stateDir}/${name}`));
      expect(left).to.deep.equal([]);
      if (!keepsData || readOnly) return;
      node.want(intent({ name: "node.again-1", source: wanted, ...spec, mounts: [{ path: node.target("again") }] }));
      await node.converge();
      expect(readFileSync(`${node.target("again")}/token`, "utf8")).to.equal(token);
    });

    it("teardown needs nothing but the journal: the spec may be unreadable by then", async () => {
      await setUp();
      await node.restart();
      const { metadata } = make({ deleting: true, generation: 2 });
      node.wantInvalid({ ...metadata });
      const volume = await node.volume("node.volume-1");
      expect(volume.phase, volume.failure?.message).to.equal("released");
      expect(node.mounts()).to.deep.equal([]);
    });

    it("is one member of VolumeSource", () => {
      expect(Object.keys(wanted)).to.deep.equal([sourceType(wanted)]);
    });
  });
}

function emptyDevice(node: RealNode, megabytes = 32): string {
  mkdirSync(`${node.path}/disks`);
  return node.keep(loopDevice(`${node.path}/disks`, "disk", megabytes)).path;
}

function listIfThere(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}
