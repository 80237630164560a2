import { expect } from "chai";
import type { Plan } from "../../../../src/agent/model/volume-plan.ts";
import { tellTransitions } from "../../../../src/agent/status/tell-transitions.ts";
import type { EventInput } from "../../../../src/kube/events/event-correlator.ts";
import { mounted, planWorld, record, staged, wanted } from "../../../lib/builders/plan-world.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const settled = { intents: [wanted()], records: [record()], mounts: [staged, mounted] };
const state = { apiVersion: "v", kind: "NodeVolumeState", name: "node", uid: "of state" };

describe("tellTransitions", () => {
  function story() {
    const { log, lines } = virtualSystem();
    const events: EventInput[] = [];
    const drifts: string[] = [];
    const metrics = { drift: (found: string) => drifts.push(found) };
    const listener = tellTransitions({
      log,
      metrics,
      events: { event: (it) => events.push(it) },
      nodeState: () => state,
    });
    let last: Plan | undefined;
    const next = (plan: Plan) => {
      const before = last;
      const changed = new Map([...plan.volumes.keys()].map((name) => [name, before?.volumes.get(name)]));
      listener.planned({ ...plan, changed }, undefined);
      last = plan;
    };
    return { next, lines, events, drifts };
  }

  it("tells of an intent by itself, and of one that is gone by the node's own object, as soon as the intents were read", () => {
    const { next, events, lines, drifts } = story();
    next(planWorld({ ...settled, input: { synced: false } }));
    next(planWorld({ intents: [wanted()] }));
    next(planWorld(settled));
    expect(events.map(({ object, type, reason }) => [object.kind, type, reason])).to.deep.equal(
      lines.map(({ level, meta }) => ["NodeVolumeIntent", level === "warn" ? "Warning" : "Normal", meta?.["reason"]]),
    );
    expect(events.at(-1)).to.include({ message: "Mounted" });
    next(planWorld({ ...settled, intents: [] }));
    expect(events.at(-1)).to.include({ type: "Warning", reason: "UnexplainedRemoval", object: state });
    expect(lines.at(-1)).to.include({ level: "warn" });
    const told = events.length;
    next(planWorld({ ...settled, intents: [] }));
    expect(events, "it is no news a second time").to.have.length(told);
    expect(drifts).to.have.length(events.filter(({ reason }) => reason === "Drifted").length);
  });
});
