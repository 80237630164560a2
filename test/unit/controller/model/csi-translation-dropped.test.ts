import { expect } from "chai";
import fc from "fast-check";
import { projectPersistentVolume } from "../../../../src/controller/model/storage-objects.ts";
import { createCSIFleet } from "../attach/csi-fleet.ts";

const handleOf = "nodevolume.dev/volume-handle";
const secretOf = "nodevolume.dev/node-publish-secret";
const [system, other] = ["788d9efb0a8f20cb", "11119efb0a8f20cb"];

const project = (spec: object, annotations: object = {}) => {
  const projected = projectPersistentVolume({ metadata: { name: "pv", annotations }, spec });
  return projected?.csi ?? projected?.unusable ?? "";
};
const handle = (...of: Parameters<typeof project>) => {
  const found = project(...of);
  return typeof found === "string" ? found : found.volumeHandle;
};

/** How NodePublishVolume of quobyte/quobyte-csi-driver (src/driver/node.go at 0b5c7a8) takes a handle apart. */
function quobyteDriver(volumeHandle: string) {
  const parts = volumeHandle.split("|");
  if (parts.length < 2) throw new Error("not in the format <TENANT_NAME/TENANT_UUID>|<VOL_NAME/VOL_UUID>");
  const [tenant, volume, subDirectory] = parts;
  // Without credentials of the API the volume is a directory of the client's mount point; with them it is asked for by
  // both.
  return { tenant, volume, subDirectory: parts.length === 3 ? subDirectory : undefined };
}

/** getSystemIDFromCsiVolumeID and getVolumeIDFromCsiVolumeID of dell/csi-powerflex, service/service.go at 5d9dc13. */
function powerFlexDriver(volumeHandle: string, byDefault = "the default system") {
  const tokens = volumeHandle.split("-");
  const systemID = tokens.length === 2 ? tokens[0] : byDefault;
  return { systemID, volumeID: tokens.at(-1) };
}

describe("PersistentVolumes of plugins that Kubernetes dropped without a translation", () => {
  it("quobyte: what its driver finds in the handle are the tenant and the volume, for any that Quobyte may have", () => {
    const name = fc.stringMatching(/^[^|/]+$/).filter((text) => text !== "." && text !== "..");
    fc.assert(
      fc.property(fc.option(name, { nil: undefined }), name, (tenant, volume) => {
        const found = quobyteDriver(handle({ quobyte: { registry: "r:7861", volume, tenant } }));
        expect(found).to.deep.equal({ tenant: tenant ?? "", volume, subDirectory: undefined });
      }),
    );
  });

  it("quobyte: the driver is told whether it is read-only, and of the Secret that an annotation names", () => {
    const quobyte = { registry: "r:7861", volume: "v", tenant: "t", readOnly: true, user: "root", group: "nfsnobody" };
    const csi = { driver: "csi.quobyte.com", volumeHandle: "t|v", readOnly: true, fsType: "" };
    expect(project({ quobyte })).to.deep.include({ ...csi, nodePublishSecretRef: undefined });
    const nodePublishSecretRef = { namespace: "storage", name: "api" };
    expect(project({ quobyte }, { [secretOf]: "storage/api" })).to.deep.include({ ...csi, nodePublishSecretRef });
    expect(project({ quobyte }, { [secretOf]: "api" })).to.include(secretOf);
  });

  it("quobyte: a volume that would be another one to the driver is refused, by the field", () => {
    for (const volume of ["a|b", "a/b", "../a", "..", ""]) {
      expect(project({ quobyte: { volume } }), volume)
        .to.include("has no volume")
        .and.include(handleOf);
    }
    expect(project({ quobyte: { volume: "v", tenant: "t|v" } })).to.include("has no volume");
  });

  it("quobyte: whom its client acted as is nobody to the driver: refused, unless the owner names the handle", () => {
    for (const [quobyte, field] of [
      [{ volume: "v", user: "app" }, "spec.quobyte.user,"],
      [{ volume: "v", group: "staff" }, "spec.quobyte.group,"],
    ] as const) {
      expect(project({ quobyte })).to.include(field).and.include("csi.quobyte.com").and.include(handleOf);
      expect(handle({ quobyte }, { [handleOf]: "t|v" })).to.equal("t|v");
    }
    expect(handle({ quobyte: { volume: "v" } }, { [handleOf]: "v" }), "not as the driver wants it").to.include(
      'no volume "v" as the annotation',
    );
  });

  it("scaleIO: by a handle alone that the driver takes apart into this system and this volume", () => {
    const scaleIO = { gateway: "g", system: "s", volumeName: "vol-0", fsType: "xfs", readOnly: true };
    const csi = { driver: "csi-vxflexos.dellemc.com", fsType: "xfs", readOnly: true };
    const volumeHandle = `${system}-a2b8419300000000`;
    expect(project({ scaleIO }, { [handleOf]: volumeHandle })).to.deep.include({ ...csi, volumeHandle });
    expect(powerFlexDriver(volumeHandle)).to.deep.equal({ systemID: system, volumeID: "a2b8419300000000" });
    const named = handle({ scaleIO }, { [handleOf]: "mysystem-a2b8419300000000" });
    expect(powerFlexDriver(named)).to.deep.equal({ systemID: "mysystem", volumeID: "a2b8419300000000" });
  });

  it("scaleIO: refused by its own fields, as volumeName is a name, and with a handle that were one of the default system", () => {
    const scaleIO = { gateway: "g", system: "s", volumeName: "a2b8419300000000" };
    expect(project({ scaleIO })).to.include("spec.scaleIO.volumeName is a name").and.include(`${handleOf}: SYSTEMID-`);
    for (const wrong of [
      "a2b8419300000000",
      "my-system-a2b8419300000000",
      `${system}-vol-0`,
      "/a-a2b8419300000000",
      "",
    ]) {
      expect(project({ scaleIO }, { [handleOf]: wrong }), wrong).to.include(`${wrong} is none`);
    }
    expect(powerFlexDriver("my-system-a2b8419300000000").systemID).to.equal("the default system");
  });

  it("an annotation is nothing to a volume that says itself what it is", () => {
    const annotations = { [handleOf]: `${system}-a2b8419300000000` };
    expect(handle({ csi: { driver: "d", volumeHandle: "h" } }, annotations)).to.equal("h");
    expect(handle({ cinder: { volumeID: "v" } }, annotations)).to.equal("v");
    expect(handle({ storageos: { volumeName: "v" } }, annotations)).to.include("copy the data");
  });
});

describe("a claim of such a volume", () => {
  const powerFlex = "csi-vxflexos.dellemc.com";
  const [volumeHandle, another] = [`${system}-a2b8419300000000`, `${other}-a2b8419300000000`];
  const scaleIO = { gateway: "g", system: "s", volumeName: "vol-0", fsType: "xfs" };
  const annotate = (fleet: ReturnType<typeof createCSIFleet>, value: string) =>
    fleet.api.patch("persistentvolumes", "pv-vol-1", { metadata: { annotations: { [handleOf]: value } } });
  const inline = (fleet: ReturnType<typeof createCSIFleet>) => fleet.attachments().map(({ spec }) => spec);

  it("waits for its handle, is attached inline, which is all that the external-attacher takes, and so again", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    const drivers = [{ name: powerFlex, nodeID: "sdc-0" }];
    fleet.api.apply("csinodes", { metadata: { name: "n0" }, spec: { drivers } });
    fleet.claim("data", "vol-1", { csi: undefined, scaleIO });
    fleet.csiSet("a", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
    fleet.start();
    await fleet.live(8_000);
    expect(fleet.intent("n0").status.attach?.reason).to.equal("VolumeSourceUnsupported");
    annotate(fleet, volumeHandle);
    await fleet.live(10_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.intent("n0").spec.grant?.csi).to.deep.include({ driver: powerFlex, volumeHandle, fsType: "xfs" });
    const inlineVolumeSpec = {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      csi: { driver: powerFlex, volumeHandle, fsType: "xfs" },
    };
    const wanted = { attacher: powerFlex, nodeName: "n0", source: { inlineVolumeSpec } };
    expect(inline(fleet)).to.deep.equal([wanted]);
    const [{ metadata } = { metadata: { name: "", uid: "" } }] = fleet.attachments();
    fleet.api.remove("volumeattachments", metadata.name);
    await fleet.live(5_000);
    expect(inline(fleet), "under the grant").to.deep.equal([wanted]);
    expect(fleet.attachments()[0]?.metadata.uid, "made anew").not.to.equal(metadata.uid);
  });

  it("stays with the volume that was granted when the annotation names another one", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.api.apply("csinodes", {
      metadata: { name: "n0" },
      spec: { drivers: [{ name: powerFlex, nodeID: "sdc-0" }] },
    });
    fleet.claim("data", "vol-1", { csi: undefined, scaleIO });
    annotate(fleet, volumeHandle);
    fleet.csiSet("a", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
    fleet.start();
    await fleet.live(10_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    annotate(fleet, another);
    await fleet.live(10_000);
    fleet.api.remove("volumeattachments", fleet.attachments()[0]?.metadata.name ?? "");
    await fleet.live(5_000);
    expect(fleet.intent("n0").spec.grant?.csi?.volumeHandle).to.equal(volumeHandle);
    expect(JSON.stringify(inline(fleet)), "nothing of the other one").not.to.include(another);
  });
});
