import { expect } from "chai";
import { projectPersistentVolume } from "../../../../src/controller/model/storage-objects.ts";
import { shipped } from "../../shipped-policies.ts";

/** A PersistentVolumeSource of each plugin that Kubernetes has, or has had; as it stands in `spec`. */
const sources: { readonly [member: string]: object } = {
  awsElasticBlockStore: { volumeID: "vol-0123456789abcdef0" },
  azureDisk: { diskName: "d", diskURI: "/subscriptions/s/d", kind: "Managed" },
  azureFile: { secretName: "s", shareName: "f", secretNamespace: "n" },
  cephfs: { monitors: ["m"] },
  cinder: { volumeID: "v" },
  csi: { driver: "d.example.com", volumeHandle: "1" },
  fc: { targetWWNs: ["50060e801049cfd1"], lun: 0 },
  flexVolume: { driver: "d/d" },
  flocker: { datasetName: "d" },
  gcePersistentDisk: { pdName: "d" },
  glusterfs: { endpoints: "e", path: "p" },
  hostPath: { path: "/x" },
  iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:a", lun: 0 },
  local: { path: "/x" },
  nfs: { server: "s", path: "/x" },
  photonPersistentDisk: { pdID: "p" },
  portworxVolume: { volumeID: "v" },
  quobyte: { registry: "r:1", volume: "v", tenant: "t" },
  rbd: { monitors: ["m"], image: "i" },
  scaleIO: { gateway: "g", system: "s", volumeName: "v", secretRef: { name: "s" } },
  storageos: { volumeName: "v" },
  vsphereVolume: { volumePath: "[d] v" },
};

const metadata = {
  name: "pv",
  labels: { "topology.kubernetes.io/zone": "z" },
};

describe("nodevolume-claim-writes", () => {
  it("lets the controller keep exactly the PersistentVolumes that it resolves to a CSI driver's", () => {
    const resolved = Object.entries(sources).filter(([member, source]) => {
      // Its driver knows volumes by ids, which an annotation says.
      const annotations = member === "scaleIO" && { "nodevolume.dev/volume-handle": "a-0123456789abcdef" };
      const raw = { metadata: { ...metadata, ...(annotations && { annotations }) }, spec: { [member]: source } };
      return projectPersistentVolume(raw)?.csi !== undefined;
    });
    const { variables } = shipped("ValidatingAdmissionPolicy", "nodevolume-claim-writes").spec;
    const expression = variables?.find(({ name }) => name === "isOfDriver")?.expression ?? "";
    const listed = [...(/\[([^\]]*)\]/.exec(expression)?.[1] ?? "").matchAll(/'(\w+)'/g)].map(([, member]) => member);
    expect(listed).to.have.members(resolved.map(([member]) => member));
  });
});
