import { expect } from "chai";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import type { ActualTarget, Truth } from "../../../../src/agent/model/actual-volume.ts";
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
  const target = (path: string, truth: Truth, more: { recorded?: boolean; leaving?: boolean } = {}): ActualTarget => {
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
    ["nobody has it: the first that is named", [target(a, "absent"), target(b, "absent")], a],
    ["the second has it", [target(a, "absent"), target(b, "mounted", { recorded: true })], b],
    ["the second has it perhaps", [target(a, "absent"), target(b, "uncertain", { recorded: true })], b],
    ["it is being given to the second", [target(a, "absent"), target(b, "absent", { recorded: true })], b],
    [
      "both were asked for once, and one is there",
      [target(a, "absent", { recorded: true }), target(b, "mounted", { recorded: true })],
      b,
    ],
    [
      "both were asked for once, and none is there",
      [target(a, "absent", { recorded: true }), target(b, "absent", { recorded: true })],
      a,
    ],
    [
      "another one is still on its way out",
      [target(a, "absent"), target(`${prefix}/c`, "absent", { leaving: true, recorded: true })],
      `${prefix}/c`,
    ],
  ] as const) {
    it(what, () => {
      const free = [a, b].filter((path) => soleTargetProblem(path, sole, { targets }) === undefined);
      expect(free).to.deep.equal([a, b].filter((path) => path === user));
      const held = user === a ? b : a;
      expect(soleTargetProblem(held, sole, { targets })).to.deep.equal({
        reason: "AccessModeMismatch",
        message: `the volume is ReadWriteOncePod, and ${user} has it: one mount may`,
      });
    });
  }

  it("is none of another access mode", () => {
    const targets = [target(a, "mounted", { recorded: true }), target(b, "absent")];
    expect(soleTargetProblem(b, desired("ReadWriteOnce", [a, b]), { targets })).to.equal(undefined);
  });
});
