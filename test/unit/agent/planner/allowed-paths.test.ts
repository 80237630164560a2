import { expect } from "chai";
import { targetPath } from "../../../../src/agent/executor/operation-context.ts";
import { asMountPath, asVolumeName, type MountPath } from "../../../../src/agent/model/identities.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  planned,
  planWorld,
  prefix,
  record,
  staged,
  stageRecord,
  targetRecord,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const settings = {
  allowedPrefixes: [prefix],
  stateDir: "/state",
  hostRoot: "/",
  csiDir: "/csi",
  kubeletDir: "/kubelet",
};
const records = [record({ targets: [] })];

describe("paths that a volume may be mounted on", () => {
  const reasonAt = (path: string) => {
    const object = wanted();
    const mounts = object.spec.mounts.map((mount) => ({ ...mount, path })); // what the schema refuses, too
    const intents = [{ ...object, spec: { ...object.spec, mounts } }];
    const plan = planned({ intents, records, mounts: [staged], input: { settings } });
    return plan.problems.targets.get(asMountPath(path))?.reason ?? plan.operation?.kind;
  };

  it("are beneath an allowed prefix, without dots, and not kubelet's", () => {
    expect(reasonAt(`${prefix}/a`)).to.equal("publish");
    expect(reasonAt(prefix)).to.equal("PathNotAllowed");
    expect(reasonAt("/etc/a")).to.equal("PathNotAllowed");
    expect(reasonAt(`${prefix}-other/a`)).to.equal("PathNotAllowed");
    expect(reasonAt(`${prefix}/../a`)).to.equal("DotDotInPath");
  });

  it("are not kubelet's, even beneath an allowed prefix", () => {
    const path = asMountPath("/kubelet/pods/a/volumes");
    const input = { settings: { ...settings, allowedPrefixes: ["/kubelet"] } };
    const plan = planned({ intents: [wanted({ mounts: [{ path }] })], records, mounts: [staged], input });
    expect(plan.problems.targets.get(path)?.message).to.equal(`${path} is kubelet's: name a path that is no pod's`);
    expect(plan.operation).to.equal(undefined);
  });

  it("are asked for again by the action itself", () => {
    const context = { settings } as unknown as Parameters<typeof targetPath>[0];
    expect(targetPath(context, `${prefix}/a`)).to.deep.equal({ prefix, path: `${prefix}/a` });
    expect(() => targetPath(context, "/etc/a")).to.throw("not beneath one of the allowed prefixes");
  });

  it("show nothing of the agent's own state", () => {
    const source = (path: string) => ({ intents: [wanted({ source: { hostPath: { path } } })] });
    for (const path of ["/state", "/state/data/key"]) {
      const plan = planned(source(path));
      expect([plan.problems.volume?.reason, plan.operation]).to.deep.equal(["SourceNotAllowed", undefined]);
    }
    expect(planned(source("/states")).operation?.kind).to.equal("stage");
  });

  it("show what is mounted beneath a prefix, also where that is in the state directory", () => {
    const input = { settings: { ...settings, allowedPrefixes: ["/state/mounts", prefix] } };
    const reasonOf = (path: string) => {
      const plan = planned({ intents: [wanted({ source: { hostPath: { path } } })], input });
      return plan.problems.volume?.reason ?? plan.operation?.kind;
    };
    expect(reasonOf("/state/mounts/a")).to.equal("stage");
    for (const path of ["/state", "/state/mounts-other", "/state/data/key"])
      expect(reasonOf(path), path).to.equal("SourceNotAllowed");
    const all = { settings: { ...settings, allowedPrefixes: ["/state", "/"] } };
    const plan = planned({
      intents: [wanted({ source: { hostPath: { path: "/state/data" } } })],
      input: all,
    });
    expect(plan.problems.volume?.reason, "a prefix around the state opens none of it").to.equal("SourceNotAllowed");
  });

  describe("of a prefix that is allowed no more", () => {
    const path = asMountPath(`${prefix}/a`);
    const input = { settings: { ...settings, allowedPrefixes: ["/state/mounts"] } };
    const standing = [staged, entry({ id: 20, parent: 5, point: path, shared: 8 })];
    const own = [record({ targets: [targetRecord({ path })] })];

    for (const [where, mounts] of [
      ["where the agent sees it", standing],
      ["where its pod has no such volume any more", [staged]],
    ] as const)
      it(`stay as they are, and are told: ${where}`, () => {
        const plan = planned({ intents: [wanted({ mounts: [{ path }] })], records: own, mounts, input });
        expect(plan.problems.targets.get(path)?.reason).to.equal("PathNotAllowed");
        expect(plan.operation).to.equal(undefined);
      });
  });

  describe("are one volume's", () => {
    const other = asVolumeName("node.volume-2");
    const world = (theirs: MountPath, mine: string, recorded: boolean) => {
      const stage = stageRecord({ path: "/state/staging/other", identity: { device: "0:51", root: "/" } });
      const targets = recorded ? [targetRecord({ path: theirs })] : [];
      return planWorld({
        intents: [wanted({ mounts: [{ path: mine }] }), wanted({ name: other, mounts: [{ path: theirs }] })],
        records: [record({ targets: [] }), record({ name: other, stage, targets })],
        mounts: [staged, entry({ id: 11, point: stage.path, device: "0:51" })],
        input: { settings },
      });
    };
    const reasons = (theirs: MountPath, mine: MountPath, recorded = false) => {
      const { volumes } = world(theirs, mine, recorded);
      return [
        volumes.get(asVolumeName("node.volume-1"))?.problems.targets.get(mine)?.reason,
        volumes.get(other)?.problems.targets.get(theirs)?.reason,
      ];
    };
    const [a, b] = [`${prefix}/a`, `${prefix}/a/b`];

    it("and not held up by one that may not be mounted, be it the whole prefix", () => {
      expect(reasons(asMountPath(prefix), asMountPath(a))).to.deep.equal([undefined, "PathNotAllowed"]);
      expect(reasons(asMountPath(prefix), asMountPath(a), true)).to.deep.equal(["PathConflict", "PathNotAllowed"]);
    });

    it("and of two that want one, or one beneath the other, neither's", () => {
      expect(reasons(asMountPath(a), asMountPath(a))).to.deep.equal(["PathConflict", "PathConflict"]);
      expect(reasons(asMountPath(a), asMountPath(b))).to.deep.equal(["PathConflict", "PathConflict"]);
      expect(reasons(asMountPath(b), asMountPath(a))).to.deep.equal(["PathConflict", "PathConflict"]);
      expect(reasons(asMountPath(a), asMountPath(`${prefix}/ab`))).to.deep.equal([undefined, undefined]);
    });

    it("and each is told what the other wants", () => {
      const messages = (theirs: MountPath, mine: MountPath) =>
        world(theirs, mine, false).volumes.get(asVolumeName("node.volume-1"))?.problems.targets.get(mine)?.message;
      const end = "neither is mounted until one of the paths changes";
      expect(messages(asMountPath(a), asMountPath(a))).to.equal(`${a}: ${other} uses it, too: ${end}`);
      expect(messages(asMountPath(a), asMountPath(b))).to.equal(`${b}: ${other} uses a path above it (${a}): ${end}`);
      expect(messages(asMountPath(b), asMountPath(a))).to.equal(`${a}: ${other} uses a path beneath it (${b}): ${end}`);
    });

    it("and stay with the one that has it", () => {
      expect(reasons(asMountPath(a), asMountPath(b), true)).to.deep.equal(["PathConflict", undefined]);
      expect(reasons(asMountPath(b), asMountPath(a), true)).to.deep.equal(["PathConflict", undefined]);
    });
  });
});
