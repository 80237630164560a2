import { expect } from "chai";
import { volumes } from "../../../../hack/lib/page/cluster.ts";
import { rawIntent, waitingStatus } from "../../../../hack/lib/page/objects.ts";
import type { NodeVolumeIntentSpec, NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import { projectIntent } from "../../../../src/controller/model/projections.ts";
import { standingOf } from "../../../../src/controller/page/standing-of.ts";

const now = Date.parse("2026-11-25T12:00:00Z");
const [volume] = volumes;

function standing(
  status: NodeVolumeIntentStatus = {},
  spec: Partial<NodeVolumeIntentSpec> = {},
  metadata: object = {},
) {
  if (volume === undefined) throw new Error("there are volumes");
  const raw = rawIntent("n1", volume, now, status);
  const changed = { ...raw, metadata: { ...raw.metadata, ...metadata }, spec: { ...(raw["spec"] as object), ...spec } };
  const intent = projectIntent(changed);
  if (intent === undefined) throw new Error("not an intent");
  return standingOf(intent);
}

const said = (reason: string, status: "True" | "False" | "Unknown" = "False") => ({
  conditions: [
    { type: "Ready", status, reason, message: `because ${reason}`, lastTransitionTime: "2026-11-25T11:00:00Z" },
  ],
});
const drift = { class: "Missing" as const, message: "nothing is mounted", since: "2026-11-25T11:58:00Z" };

describe("standingOf", () => {
  const cases: readonly [string, ReturnType<typeof standing>["standing"], string, Parameters<typeof standing>][] = [
    ["what is as wanted", "ready", "Mounted", []],
    [
      "what waits for a server",
      "waiting",
      "ServerUnreachable",
      [waitingStatus(now, 60, "ServerUnreachable", "no answer")],
    ],
    ["what somebody must change", "blocked", "ForeignMount", [waitingStatus(now, 60, "ForeignMount", "in the way")]],
    ["a drift", "drifted", "Drifted", [{ drift }]],
    [
      "a drift that somebody must end",
      "blocked",
      "ForeignMount",
      [{ ...waitingStatus(now, 60, "ForeignMount", "x"), drift }],
    ],
    ["a drift that is only observed", "differs", "Drifted", [{ drift }, { mode: "Observe" }]],
    ["a plan that is only observed", "differs", "WouldChange", [said("WouldChange"), { mode: "Observe" }]],
    ["a drift while repair is suspended", "suspended", "Drifted", [{ drift }, { suspend: true }]],
    ["what is well while repair is suspended", "ready", "Mounted", [{}, { suspend: true }]],
    ["a silent agent", "unknown", "AgentLost", [said("AgentLost", "Unknown")]],
    [
      "an agent that was lost before it had said anything",
      "unknown",
      "AgentLost",
      [{ conditions: undefined as never, agentState: { state: "Lost", since: "2026-11-25T11:00:00Z" } }],
    ],
    ["what no agent has spoken of", "waiting", "NotObserved", [{ conditions: undefined as never }]],
    ["a newer spec", "waiting", "NotObserved", [{}, {}, { generation: 2 }]],
    ["another intent of the same name", "waiting", "NotObserved", [{ observedUID: "another" }]],
    ["what is given back", "waiting", "Unmounting", [{}, {}, { deletionTimestamp: "2026-11-25T11:59:00Z" }]],
    [
      "what is given back and busy",
      "waiting",
      "TargetBusy",
      [waitingStatus(now, 9, "TargetBusy", "pid 7"), {}, { deletionTimestamp: "2026-11-25T11:59:00Z" }],
    ],
    ["an attachment", "waiting", "AttachFailed", [{ attach: { reason: "AttachFailed", message: "no room" } }]],
    [
      "an attachment before any word of the agent",
      "waiting",
      "WaitingForAttach",
      [{ conditions: undefined as never, attach: { reason: "WaitingForAttach" } }],
    ],
    [
      "a growth that cannot be",
      "blocked",
      "ExpansionInfeasible",
      [{ expansion: { capacityBytes: "1", reason: "ExpansionInfeasible", message: "x" } }],
    ],
    [
      "what the driver says of its volume",
      "waiting",
      "VolumeConditionAbnormal",
      [
        {
          conditions: [
            ...said("Mounted", "True").conditions,
            {
              type: "VolumeHealthy",
              status: "False",
              reason: "VolumeConditionAbnormal",
              message: "slow",
              lastTransitionTime: "2026-11-25T11:00:00Z",
            },
          ],
        },
      ],
    ],
    ["what Ready alone says", "blocked", "PathNotAllowed", [said("PathNotAllowed")]],
  ];
  for (const [what, wanted, reason, of] of cases) {
    it(`says of ${what}: ${wanted}, ${reason}`, () => {
      const found = standing(...of);
      expect([found.standing, found.reason]).to.deep.equal([wanted, reason]);
    });
  }
});
