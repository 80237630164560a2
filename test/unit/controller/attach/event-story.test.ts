import { expect } from "chai";
import type { CSIFleet } from "./csi-fleet.ts";
import { createCSIFleet, driver } from "./csi-fleet.ts";

interface Told {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly namespace?: string };
}

const claimed = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };
const storage = new Set(["NodeVolumeIntent", "PersistentVolumeClaim"]);

/** "Kind Reason count", of what is about volumes, in their order. */
function told(fleet: CSIFleet): string[] {
  const events = fleet.api.objects("events") as unknown as Told[];
  return events
    .filter(({ involvedObject }) => storage.has(involvedObject.kind))
    .map(({ involvedObject: { kind }, reason, count }) => `${kind} ${reason} ${count}`);
}

const both = (reason: string) => [`NodeVolumeIntent ${reason} 1`, `PersistentVolumeClaim ${reason} 1`];

function ready(source: object = claimed): CSIFleet {
  const fleet = createCSIFleet();
  fleet.driverNode("n0");
  fleet.claim("data", "vol-1");
  fleet.csiSet("a", source);
  return fleet;
}

describe("the events of volumes that are attached and grow", () => {
  it("tells each transition once, on the intent and on its claim, in the claim's namespace", async () => {
    const fleet = ready();
    fleet.start();
    await fleet.live(10_000);
    const began = [...both("WaitingForAttach"), ...both("SuccessfulAttachVolume")];
    expect(told(fleet)).to.deep.equal(began);
    await fleet.live(60_000);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(5_000);
    expect(told(fleet)).to.deep.equal([...began, ...both("SuccessfulDetachVolume")]);
    const ofClaim = fleet.api.objects("events").filter(({ metadata }) => metadata.namespace === "apps");
    expect(ofClaim).to.have.length(3);
  });

  it("tells it on the intent alone where there is no claim", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.csiSet("a", { csi: { driver, volumeHandle: "vol-2" } });
    fleet.start();
    await fleet.live(5_000);
    expect(told(fleet)).to.deep.equal([
      "NodeVolumeIntent WaitingForAttach 1",
      "NodeVolumeIntent SuccessfulAttachVolume 1",
    ]);
  });

  it("reports a failed attach once, whatever its retries and messages, and again when it fails anew", async () => {
    const fleet = ready();
    fleet.attacher.error = "no slot is free";
    fleet.start();
    await fleet.live(10_000);
    for (let attempt = 1; attempt <= 20; attempt += 1) {
      fleet.attacher.error = `no slot is free, attempt ${attempt}`;
      await fleet.live(2_000);
    }
    const failed = () => told(fleet).filter((one) => one.includes("Failed"));
    expect(failed()).to.deep.equal(both("FailedAttachVolume"));
    const [event] = (fleet.api.objects("events") as unknown as Told[]).filter(({ reason }) => /Failed/.test(reason));
    expect(event?.message).to.equal("the volume cannot be attached to node n0: no slot is free");
    fleet.attacher.error = "";
    await fleet.live(5_000);
    expect(told(fleet).slice(-2)).to.deep.equal(both("SuccessfulAttachVolume"));
  });

  it("tells the claim once that its attachment stays, when the intent of a volume in use is stripped away", async () => {
    const fleet = ready();
    fleet.start();
    await fleet.live(10_000);
    const before = told(fleet).length;
    const { name } = fleet.intent("n0").metadata;
    fleet.node("n0", { taints: [{ key: "k", effect: "NoExecute" }] });
    fleet.api.patch("nodevolumeintents", name, { metadata: { finalizers: null } });
    for (let look = 1; look <= 3; look += 1) {
      fleet.api.patch("persistentvolumeclaims", "apps/data", { metadata: { labels: { look: `${look}` } } });
      await fleet.live(10_000);
    }
    expect(fleet.intents()).to.deep.equal([]);
    expect(told(fleet).slice(before)).to.deep.equal(["PersistentVolumeClaim VolumeHeldElsewhere 1"]);
    const [attachment] = fleet.attachments();
    const events = fleet.api.objects("events") as unknown as Told[];
    const message = events.find(({ reason }) => reason === "VolumeHeldElsewhere")?.message;
    expect(message).to.include(
      `kubectl annotate volumeattachment ${attachment?.metadata.name} nodevolume.dev/release=`,
    );
  });

  it("tells nothing again to a controller that starts anew", async () => {
    const fleet = ready();
    const first = fleet.start();
    await fleet.live(10_000);
    const before = told(fleet);
    void first.stop();
    fleet.start("c2");
    await fleet.live(40_000);
    expect(told(fleet)).to.deep.equal(before);
  });

  it("is told by who leads alone: a candidate that stands by has nothing to drop", async () => {
    const fleet = ready();
    fleet.start("c2");
    await fleet.live(1_000);
    // Its metrics are the fleet's.
    fleet.start("c1");
    await fleet.live(10_000);
    expect(told(fleet)).to.have.length(4);
    for (const size of [2 ** 30, 2 ** 31]) {
      const status = { capacityBytes: String(size) };
      fleet.api.patch("nodevolumeintents", fleet.intent("n0").metadata.name, { status }, "status");
      await fleet.live(2_000);
    }
    expect(told(fleet).slice(4)).to.deep.equal(["NodeVolumeIntent FileSystemResizeSuccessful 1"]);
    expect(await fleet.registry.metrics()).not.to.match(/^nodevolume_controller_events_dropped_total\{/m);
  });

  it("tells that a volume does not grow once for each cause and size, and that it has", async () => {
    const fleet = ready();
    fleet.start();
    await fleet.live(10_000);
    const { name } = fleet.intent("n0").metadata;
    const before = told(fleet).length;
    const said = async (status: object) => {
      fleet.api.patch("nodevolumeintents", name, { status }, "status");
      await fleet.live(500);
    };
    const failing = { capacityBytes: String(2 ** 31), reason: "DriverFailed", message: "the pool is sick" };
    // The size that it is to have from the start: no claim waits for a growth.
    await said({ expansion: { ...failing, capacityBytes: String(2 ** 30), reason: "NoWritableMount" } });
    await said({ expansion: null, capacityBytes: String(2 ** 30) });
    expect(told(fleet).slice(before)).to.deep.equal([]);
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { capacity: { storage: "2Gi" } } });
    await fleet.live(500);
    await said({ expansion: failing });
    await said({ expansion: { ...failing, reason: "Progressing", message: "" } });
    await said({ expansion: { ...failing, message: "the pool is sick, attempt 2" } });
    expect(told(fleet).slice(before)).to.deep.equal(both("VolumeResizeFailed"));
    await said({ expansion: null, capacityBytes: String(2 ** 31) });
    expect(told(fleet).slice(before + 2)).to.deep.equal(both("FileSystemResizeSuccessful"));
  });
});
