import { expect } from "chai";
import type { NodeVolumeSetStatus } from "../../../../src/api/types.gen.ts";
import { setEvents } from "../../../../src/controller/sets/set-events.ts";
import { condition } from "../objects.ts";

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
    [
      "stalled: by the reason of the first node that somebody has to change something for",
      status(notReady),
      status(notReady, condition("Stalled", "True", "SourceNotFound", "n0: there is no /srv on the node")),
      ["Warning SourceNotFound n0: there is no /srv on the node"],
    ],
    [
      "still stalled, on another node",
      status(notReady, condition("Stalled", "True", "SourceNotFound", "n0")),
      status(notReady, condition("Stalled", "True", "SourceNotFound", "n1")),
      [],
    ],
    [
      "still stalled, for another reason",
      status(notReady, condition("Stalled", "True", "SourceNotFound", "n0")),
      status(notReady, condition("Stalled", "True", "PathNotAllowed", "n0")),
      ["Warning PathNotAllowed n0"],
    ],
    [
      "stalled by nothing but a conflict",
      status(notReady),
      status(notReady, conflict, condition("Stalled", "True", "Conflict", "n0: set b")),
      ["Warning Conflict set b"],
    ],
    [
      "ready again, with nothing to mount",
      status(notReady, condition("Stalled", "True", "SourceNotFound", "n0")),
      status(condition("Ready", "True", "NoConsumers", "the set has no mounts")),
      ["Normal NoConsumers the set has no mounts"],
    ],
    ["nothing to mount from the beginning", {}, status(condition("Ready", "True", "NoConsumers", "none")), []],
    ["still in conflict, with another", status(conflict), status({ ...conflict, message: "set c" }), []],
  ];
  for (const [what, before, after, expected] of cases) {
    it(what, () => {
      expect(setEvents(before, after).map((e) => `${e.type} ${e.reason} ${e.message}`)).to.deep.equal(expected);
    });
  }
});
