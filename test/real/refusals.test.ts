import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { understand } from "../../src/agent/desired/intents.ts";
import { asMountPath, asVolumeName, type MountPath } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("refusals, on the real kernel", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const problemAt = async (path: MountPath) => (await node.volume(name)).problems.targets.get(path)?.reason;

  it("a target outside the allowed prefixes", async () => {
    const outside = asMountPath(`${node.path}/elsewhere`);
    node.want(intent({ source: source(), mounts: [{ path: outside }] }));
    expect(await problemAt(outside)).to.equal("PathNotAllowed");
    expect(existsSync(outside)).to.equal(false);
  });

  it("the prefix itself", async () => {
    node.want(intent({ source: source(), mounts: [{ path: `${node.path}/mnt` }] }));
    expect(await problemAt(asMountPath(`${node.path}/mnt`))).to.equal("PathNotAllowed");
  });

  it("a source in the agent's own state, by name and by a link", async () => {
    symlinkSync(`${node.stateDir}`, `${node.path}/link`);
    for (const path of [`${node.stateDir}/data`, `${node.path}/link`]) {
      node.want(intent({ source: { hostPath: { path } }, mounts: [{ path: node.target("a") }] }));
      mkdirSync(`${node.stateDir}/data`, { recursive: true });
      const volume = await node.volume(name);
      expect(volume.problems.volume?.reason ?? volume.failure?.reason, path).to.equal("SourceNotAllowed");
      expect(node.mounts()).to.deep.equal([]);
    }
  });

  it("a symbolic link on the way to the target", async () => {
    mkdirSync(`${node.path}/elsewhere`);
    symlinkSync(`${node.path}/elsewhere`, node.target("link"));
    node.want(intent({ source: source(), mounts: [{ path: node.target("link/a") }] }));
    expect((await node.volume(name)).failure?.reason).to.equal("SymlinkInPath");
    expect(readdirSync(`${node.path}/elsewhere`)).to.deep.equal([]);
  });

  it("a mount between prefix and target: nothing is made in it", async () => {
    mkdirSync(node.target("disk"));
    execFileSync("mount", ["-t", "tmpfs", "foreign", node.target("disk")]);
    node.want(intent({ source: source(), mounts: [{ path: node.target("disk/a") }] }));
    expect((await node.volume(name)).failure?.reason).to.equal("ForeignMountInPath");
    expect(readdirSync(node.target("disk"))).to.deep.equal([]);
    execFileSync("umount", [node.target("disk")]);
    node.forgetFailures();
    await node.converge();
    expect(node.mountAt(node.target("disk/a"))).not.to.equal(undefined);
  });

  it("a file where a directory must be, and a directory where a file must be", async () => {
    writeFileSync(node.target("file"), "theirs");
    node.want(intent({ source: source(), mounts: [{ path: node.target("file") }] }));
    expect((await node.volume(name)).failure?.reason).to.equal("TargetNotDirectory");
    node.want(intent({ source: source(), mounts: [{ path: node.target("file/a") }], generation: 2 }));
    expect((await node.volume(name)).failure?.reason).to.equal("TargetNotDirectory");
    mkdirSync(node.target("directory"));
    writeFileSync(`${node.path}/src/one`, "");
    const one = { hostPath: { path: `${node.path}/src/one`, type: "File" } } as const;
    node.want(intent({ source: one, mounts: [{ path: node.target("directory") }], name: "node.file-1" }));
    expect((await node.volume(asVolumeName("node.file-1"))).failure?.reason).to.equal("TargetNotFile");
    expect(readFileSync(node.target("file"), "utf8")).to.equal("theirs");
    expect(node.mounts()).to.deep.equal([]);
  });

  it("a target with .. in it, which the API server refuses already", async () => {
    const object = intent({ source: source(), mounts: [{ path: node.target("a") }] });
    const path = asMountPath(`${node.target("a")}/../../elsewhere`);
    const mounts = object.spec.mounts.map((mount) => ({ ...mount, path }));
    const entry = understand({ ...object, spec: { ...object.spec, mounts } });
    expect(entry?.desired).to.include({ reason: "DotDotInPath" });
    const mounter = node.host.effects({ deadlineMs: 1000, formatDeadlineMs: 1000, onChild: async () => {} }).mounter;
    const target = { prefix: `${node.path}/mnt`, path };
    const refused = await mounter.makeTarget(target, "directory").catch((error: unknown) => error);
    expect(refused).to.include({ reason: "DotDotInPath" });
    expect(existsSync(`${node.path}/elsewhere`)).to.equal(false);
  });

  it("a hostPath of another type, and one that is missing", async () => {
    node.want(
      intent({
        source: { hostPath: { path: `${node.path}/src`, type: "File" } },
        mounts: [{ path: node.target("a") }],
      }),
    );
    expect((await node.volume(name)).failure?.reason).to.equal("SourceWrongType");
    node.want(
      intent({ source: { hostPath: { path: "/no/such" } }, generation: 2, mounts: [{ path: node.target("a") }] }),
    );
    expect((await node.volume(name)).failure?.reason).to.equal("SourceNotFound");
  });
});
