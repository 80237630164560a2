import { expect } from "chai";
import type { NodeVolumeSetStatus } from "../../../src/api/types.gen.ts";
import { setEvents } from "../../../src/controller/set-events.ts";
import { condition } from "./objects.ts";

describe("setEvents", () => {
  const status = (...conditions: ReturnType<typeof condition>[]): NodeVolumeSetStatus => ({ conditions });
  const ready = condition("Ready", "True", "AllReady", "ready on 3 nodes");
  const notReady = condition("Ready", "False", "NodesNotReady");
  const conflict = condition("Conflict", "True", "Conflict", "set b");
  const paused = condition("Stalled", "True", "RolloutPaused", "n0");
  const cases: [string, NodeVolumeSetStatus, NodeVolumeSetStatus, string[]][] = [
    ["all ready", status(notReady), status(ready), ["Normal AllReady ready on 3 nodes"]],
    ["ready from the beginning", {}, status(ready), ["Normal AllReady ready on 3 nodes"]],
    ["still ready", status(ready), status(ready), []],
    ["no longer ready", status(ready), status(notReady), []],
    [
      "conflict and pause",
      status(notReady),
      status(conflict, paused),
      ["Warning Conflict set b", "Warning RolloutPaused n0"],
    ],
    [
      "a policy that is gone",
      status(ready),
      status(ready, condition("PoliciesInForce", "False", "PolicyMissing", "there is none")),
      ["Warning PolicyMissing there is none"],
    ],
    [
      "a spec that breaks a rule which no CRD has",
      status(ready),
      status(condition("Stalled", "True", "Invalid", ".spec.volume.mountOptions: one that is allowed")),
      ["Warning Invalid .spec.volume.mountOptions: one that is allowed"],
    ],
    ["still in conflict, with another", status(conflict), status({ ...conflict, message: "set c" }), []],
  ];
  for (const [what, before, after, expected] of cases) {
    it(what, () => {
      expect(setEvents(before, after).map((e) => `${e.type} ${e.reason} ${e.message}`)).to.deep.equal(expected);
    });
  }
});
