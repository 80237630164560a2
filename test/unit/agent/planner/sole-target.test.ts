import { expect } from "chai";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import type { ActualTarget, Truth } from "../../../../src/agent/model/actual-volume.ts";
import { asMountPath, type MountPath } from "../../../../src/agent/model/identities.ts";
import { soleTargetProblem } from "../../../../src/agent/planner/csi-steps.ts";
import { prefix, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const [a, b] = [`${prefix}/a`, `${prefix}/b`];

function desired(accessMode: "ReadWriteOnce" | "ReadWriteOncePod", paths: readonly string[]) {
  const mounts = paths.map((path) => ({ path }));
  return desiredVolume(wanted({ source, mounts, grant: { id: "g", csi: { ...source.csi, accessMode } } }), "key");
}

describe("a volume that one mount may use", () => {
  const sole = desired("ReadWriteOncePod", [a, b]);
  const target = (
    path: MountPath,
    truth: Truth,
    more: { recorded?: boolean; leaving?: boolean } = {},
  ): ActualTarget => {
    const mount = sole.mounts.find((one) => one.path === path);
    return {
      path,
      name: path,
      ...(truth === "mounted" ? { truth, outdated: false, attributesDiffer: false } : { truth }),
      ...(more.leaving !== true && mount && { desired: mount }),
      ...(more.recorded === true && { record: targetRecord({ path }) }),
    };
  };

  for (const [what, targets, user] of [
    ["nobody has it: the first that is named", [target(asMountPath(a), "absent"), target(asMountPath(b), "absent")], a],
    ["the second has it", [target(asMountPath(a), "absent"), target(asMountPath(b), "mounted", { recorded: true })], b],
    [
      "the second has it perhaps",
      [target(asMountPath(a), "absent"), target(asMountPath(b), "uncertain", { recorded: true })],
      b,
    ],
    [
      "it is being given to the second",
      [target(asMountPath(a), "absent"), target(asMountPath(b), "absent", { recorded: true })],
      b,
    ],
    [
      "both were asked for once, and one is there",
      [target(asMountPath(a), "absent", { recorded: true }), target(asMountPath(b), "mounted", { recorded: true })],
      b,
    ],
    [
      "both were asked for once, and none is there",
      [target(asMountPath(a), "absent", { recorded: true }), target(asMountPath(b), "absent", { recorded: true })],
      a,
    ],
    [
      "another one is still on its way out",
      [
        target(asMountPath(a), "absent"),
        target(asMountPath(`${prefix}/c`), "absent", { leaving: true, recorded: true }),
      ],
      `${prefix}/c`,
    ],
  ] as const) {
    it(what, () => {
      const free = [a, b].filter((path) => soleTargetProblem(asMountPath(path), sole, { targets }) === undefined);
      expect(free).to.deep.equal([a, b].filter((path) => path === user));
      const held = user === a ? b : a;
      expect(soleTargetProblem(asMountPath(held), sole, { targets })).to.deep.equal({
        reason: "AccessModeMismatch",
        message: `the volume is ReadWriteOncePod, and ${user} has it: one mount may`,
      });
    });
  }

  it("is none of another access mode", () => {
    const targets = [target(asMountPath(a), "mounted", { recorded: true }), target(asMountPath(b), "absent")];
    expect(soleTargetProblem(asMountPath(b), desired("ReadWriteOnce", [a, b]), { targets })).to.equal(undefined);
  });
});
