import { expect } from "chai";
import { projectPersistentVolume } from "../../../../src/controller/model/storage-objects.ts";

/** What csi-translation-lib v0.36.3 makes of the same volumes, by its own tests and source. */
const cases: readonly [string, { spec: object; labels?: object; annotations?: object }, object | undefined][] = [
  [
    "awsElasticBlockStore",
    {
      spec: {
        awsElasticBlockStore: { volumeID: "aws://us-east-1a/vol-0123", fsType: "ext4", partition: 3, readOnly: true },
      },
    },
    {
      driver: "ebs.csi.aws.com",
      volumeHandle: "vol-0123",
      fsType: "ext4",
      readOnly: true,
      volumeAttributes: { partition: "3" },
    },
  ],
  [
    "awsElasticBlockStore, the bare id",
    { spec: { awsElasticBlockStore: { volumeID: "vol-0123" } } },
    { driver: "ebs.csi.aws.com", volumeHandle: "vol-0123", volumeAttributes: { partition: "0" } },
  ],
  ["awsElasticBlockStore, no id", { spec: { awsElasticBlockStore: { volumeID: "aws://us-east-1a/disk" } } }, undefined],
  [
    "gcePersistentDisk of a zone",
    {
      spec: { gcePersistentDisk: { pdName: "disk", fsType: "xfs" } },
      labels: { "topology.kubernetes.io/zone": "us-central1-a" },
    },
    {
      volumeHandle: "projects/UNSPECIFIED/zones/us-central1-a/disks/disk",
      fsType: "xfs",
      volumeAttributes: { partition: "" },
    },
  ],
  [
    "gcePersistentDisk of a region",
    {
      spec: { gcePersistentDisk: { pdName: "disk" } },
      labels: { "failure-domain.beta.kubernetes.io/zone": "us-central1-a__us-central1-c" },
    },
    { driver: "pd.csi.storage.gke.io", volumeHandle: "projects/UNSPECIFIED/regions/us-central1/disks/disk" },
  ],
  [
    "gcePersistentDisk of two regions",
    {
      spec: { gcePersistentDisk: { pdName: "disk" } },
      labels: { "topology.kubernetes.io/zone": "us-central1-a__us-west1-c" },
    },
    undefined,
  ],
  [
    "gcePersistentDisk of nowhere",
    { spec: { gcePersistentDisk: { pdName: "disk" } } },
    { volumeHandle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk" },
  ],
  [
    "azureDisk",
    {
      spec: {
        azureDisk: {
          diskName: "d",
          diskURI: "/subscriptions/s/d",
          kind: "Managed",
          cachingMode: "None",
          fsType: "ext4",
        },
      },
    },
    {
      driver: "disk.csi.azure.com",
      volumeHandle: "/subscriptions/s/d",
      volumeAttributes: { kind: "Managed", cachingmode: "None", fstype: "ext4" },
    },
  ],
  ["azureDisk of a kind of its own", { spec: { azureDisk: { diskURI: "u", kind: "Dedicated" } } }, undefined],
  [
    "azureFile",
    {
      spec: {
        azureFile: { secretName: "azure-storage-account-acc-secret", shareName: "share" },
        claimRef: { namespace: "apps" },
      },
      annotations: { "kubernetes.io/azure-file-resource-group": "group" },
    },
    {
      driver: "file.csi.azure.com",
      volumeHandle: "group#acc#share#pv#apps",
      volumeAttributes: { sharename: "share" },
      nodeStageSecretRef: { namespace: "apps", name: "azure-storage-account-acc-secret" },
    },
  ],
  ["azureFile of no namespace", { spec: { azureFile: { secretName: "s", shareName: "share" } } }, undefined],
  [
    "cinder",
    { spec: { cinder: { volumeID: "v", fsType: "ext4" } } },
    { driver: "cinder.csi.openstack.org", volumeHandle: "v" },
  ],
  [
    "vsphereVolume",
    { spec: { vsphereVolume: { volumePath: "[ds] v.vmdk", storagePolicyName: "gold" } } },
    { driver: "csi.vsphere.vmware.com", volumeHandle: "[ds] v.vmdk", volumeAttributes: { storagepolicyname: "gold" } },
  ],
  [
    "portworxVolume",
    {
      spec: { portworxVolume: { volumeID: "v", fsType: "ext4" } },
      annotations: { "openstorage.io/auth-secret-name": "n", "openstorage.io/auth-secret-namespace": "s" },
    },
    { driver: "pxd.portworx.com", volumeHandle: "v", nodePublishSecretRef: { namespace: "s", name: "n" } },
  ],
  ["none of them", { spec: { nfs: { server: "s", path: "/" } } }, undefined],
];

const project = (spec: object, labels?: object, annotations?: object) =>
  projectPersistentVolume({ metadata: { name: "pv", labels, annotations }, spec });

describe("PersistentVolumes of plugins that drivers have replaced", () => {
  for (const [title, { spec, labels, annotations }, wanted] of cases) {
    it(title, () => {
      const csi = project(spec, labels, annotations)?.csi;
      if (wanted === undefined) expect(csi).to.equal(undefined);
      else expect(csi).to.deep.include(wanted);
    });
  }

  it("a GCE disk is one node's, or read by many", () => {
    const modes = (accessModes: string[]) => project({ gcePersistentDisk: { pdName: "d" }, accessModes })?.accessModes;
    expect(modes(["ReadWriteMany"])).to.deep.equal(["ReadWriteOnce"]);
    expect(modes(["ReadOnlyMany", "ReadWriteOnce"])).to.deep.equal(["ReadWriteOnce"]);
    expect(modes(["ReadOnlyMany"])).to.deep.equal(["ReadOnlyMany"]);
  });

  it("their zones are compared by the label that Nodes have", () => {
    const ebs = { awsElasticBlockStore: { volumeID: "vol-1" } };
    const beta = { key: "failure-domain.beta.kubernetes.io/zone", operator: "In", values: ["a"] };
    const required = { nodeSelectorTerms: [{ matchExpressions: [beta] }] };
    const ga = { ...beta, key: "topology.kubernetes.io/zone" };
    expect(project({ ...ebs, nodeAffinity: { required } })?.nodeTerms).to.deep.equal([{ matchExpressions: [ga] }]);
    const labelled = project(ebs, { "failure-domain.beta.kubernetes.io/zone": "a__b" });
    expect(labelled?.nodeTerms).to.deep.equal([{ matchExpressions: [{ ...ga, values: ["a", "b"] }] }]);
    expect(project(ebs)?.nodeTerms).to.equal(undefined);
    const csi = { driver: "d", volumeHandle: "h" };
    expect(project({ csi, nodeAffinity: { required } })?.nodeTerms).to.deep.equal(required.nodeSelectorTerms);
  });
});
