import { expect } from "chai";
import { asIntentUID } from "../../../../src/agent/model/identities.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { planned, volume, type World, wanted } from "../../../lib/builders/plan-world.ts";

const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const csi = { ...source.csi, accessMode: "ReadWriteOnce" as const };

/** Status of an intent that is planned for in this world. */
function status(intent: NodeVolumeIntent, world: Partial<World> = {}) {
  return statusOf(intent, planned({ intents: [intent], ...world }), { agent: { bootID: "b", epoch: 1 }, now: 0 });
}

describe("what a CSI volume waits for", () => {
  const ungranted = (): NodeVolumeIntent => {
    const intent = wanted({ source, grant: { id: "g", csi } });
    const { grant: _none, ...spec } = intent.spec;
    return { ...intent, spec };
  };

  it("without a grant: to be attached; nothing is planned, and nothing is in use", () => {
    const { state, waiting, inUse } = status(ungranted());
    expect([state, waiting?.reason, inUse]).to.deep.equal(["WaitingForAttach", "WaitingForAttach", false]);
    expect(planned({ intents: [ungranted()] }).operation).to.equal(undefined);
  });

  it("a grant that does not say which volume it is, is none", () => {
    const intent = wanted({ source, grant: { id: "g", csi } });
    const vague = { ...intent, spec: { ...intent.spec, grant: { id: "g" } } };
    expect(status(vague).state).to.equal("WaitingForAttach");
  });

  it("shows what the controller says of it, and decides nothing by it", () => {
    const intent = ungranted();
    const on = { kind: "NodeVolumeIntent", name: "other.volume", node: "other" };
    const attach = { reason: "VolumeHeldElsewhere", message: "other has it", on, since: "2026-01-01T00:00:00Z" };
    const told = { ...intent, status: { ...intent.status, attach } };
    const shown = status(told);
    expect(shown.waiting).to.deep.equal(attach);
    expect(shown.conditions?.find(({ type }) => type === "Ready")?.reason).to.equal("VolumeHeldElsewhere");
    const granted = { ...wanted({ source, grant: { id: "g", csi } }), status: told.status };
    expect([status(granted).state, status(granted).waiting]).to.deep.equal(["Staging", undefined]);
  });

  it("a driver that takes long is named with what it was asked for", () => {
    const intent = wanted({ source, grant: { id: "g", csi } });
    const stuckOperations = new Map([[volume, { driver: "a.example", method: "NodeStageVolume" }]]);
    const pendingOperations = new Map([[volume, "stage" as const]]);
    const { waiting } = status(intent, { input: { stuckOperations, pendingOperations } });
    expect(waiting).to.include({ reason: "NotAnswering" });
    expect(waiting?.message).to.match(/a\.example has not answered NodeStageVolume/);
  });

  it("grows: the size that is wanted, and why it is not reached", () => {
    const intent = wanted({ source, grant: { id: "g", csi }, capacityBytes: "200" });
    const stage = {
      kind: "csi" as const,
      path: "/csi/key/staging",
      ready: true,
      options: [],
      csi: {
        ...source.csi,
        directory: "/csi/key",
        needsUnstage: true,
        block: false,
        shown: [],
        calls: {},
        capacityBytes: "100",
      },
    };
    const record = {
      name: volume,
      key: "key",
      type: "csi",
      uid: asIntentUID("uid-1"),
      generation: 1,
      stage,
      targets: [],
    } as const;
    const { capacityBytes, expansion } = status(intent, { records: [record] });
    expect([capacityBytes, expansion?.capacityBytes, expansion?.reason]).to.deep.equal(["100", "200", "Progressing"]);
    const mounts = intent.spec.mounts.map((mount) => ({ ...mount, readOnly: true }));
    const reads = status({ ...intent, spec: { ...intent.spec, mounts } }, { records: [record] });
    expect(reads.expansion).to.include({ capacityBytes: "200", reason: "NoWritableMount" });
  });
});
