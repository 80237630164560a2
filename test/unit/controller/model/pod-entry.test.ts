import { expect } from "chai";
import { projectNamespace, projectPod } from "../../../../src/controller/model/pod-entry.ts";
import { ours, pod, rawPod } from "../pods/pod-objects.ts";

const claim = (claimName: string, name = "c") => ({ name, persistentVolumeClaim: { claimName } });

describe("projectPod", () => {
  it("keeps what is decided by, and nothing else", () => {
    const volumes = [ours({ set: "datasets", subPath: "a/b", readOnly: "true" }), claim("data")];
    const securityContext = { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch", runAsUser: 7 };
    expect(projectPod(rawPod("team/web-0", { volumes, securityContext, created: 5 }))).to.deep.equal({
      metadata: { name: "web-0", namespace: "team", uid: "uid-web-0", resourceVersion: "1" },
      uid: "uid-web-0",
      isMirror: false,
      nodeName: "n1",
      created: 1_700_000_005,
      deleting: false,
      group: { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" },
      groups: [2000],
      volumes: [{ name: "v", request: { wants: { set: "datasets" }, subPath: "a/b", readOnly: true } }],
      claims: [{ volume: "c", claimName: "data", readOnly: false, ephemeral: false, device: false }],
    });
  });

  it("keeps the SELinux labels of what its containers mount: their own, else the pod's; null where they differ", () => {
    const use = (name: string, volume: string, seLinuxOptions?: object) => ({
      name,
      volumeMounts: [{ name: volume }],
      ...(seLinuxOptions && { securityContext: { seLinuxOptions } }),
    });
    const labelsOf = (securityContext: object | undefined, containers: object[]) => {
      const volumes = ["v", "w"].map((name) => ours({ set: "a" }, name));
      return pod("team/p", { volumes, containers, ...(securityContext && { securityContext }) }).labels;
    };
    const level = { level: "s0:c1,c2" };
    expect(labelsOf(undefined, [use("a", "v"), use("b", "w")])).to.equal(undefined);
    expect(
      labelsOf({ seLinuxOptions: { type: "spc_t" } }, [use("a", "v")]),
      "files have no type of the pod's",
    ).to.equal(undefined);
    expect(
      labelsOf({ seLinuxOptions: level }, [use("a", "v"), use("b", "w", { level: "s0:c3", user: "u" })]),
    ).to.deep.equal({
      v: ":s0:c1,c2",
      w: "u:s0:c3",
    });
    expect(labelsOf(undefined, [use("a", "v", level), use("b", "v")])).to.deep.equal({ v: null });
  });

  it("does not keep a pod that uses neither a volume of ours nor a claim, or has ended", () => {
    expect(projectPod(rawPod("team/p", { volumes: [{ name: "v", emptyDir: {} }] }))).to.equal(undefined);
    expect(projectPod(rawPod("team/p", { volumes: [] }))).to.equal(undefined);
    const other = { name: "v", csi: { driver: "another.example", volumeAttributes: { set: "a" } } };
    expect(projectPod(rawPod("team/p", { volumes: [other] }))).to.equal(undefined);
    for (const phase of ["Succeeded", "Failed"]) expect(projectPod(rawPod("team/p", { phase }))).to.equal(undefined);
    for (const phase of ["Pending", "Running", "Unknown"]) {
      expect(projectPod(rawPod("team/p", { phase }))).not.to.equal(undefined);
    }
  });

  it("keeps only volumes that some container uses: an ordinary one, one for init, or an ephemeral one", () => {
    const volumes = ["a", "b", "c", "d"].map((name) => ours({ set: name }, name));
    const use = (name: string) => [{ name: `on-${name}`, volumeMounts: [{ name }] }];
    const more = { initContainers: use("b"), ephemeralContainers: use("c") };
    const kept = pod("team/p", { volumes, containers: use("a"), more }).volumes.map(({ name }) => name);
    expect(kept).to.deep.equal(["a", "b", "c"]);
  });

  it("a claim of a generic ephemeral volume has the pod's name and the volume's; devices count as use", () => {
    const volumes = [{ name: "scratch", ephemeral: { volumeClaimTemplate: {} } }, claim("raw", "disk")];
    const containers = [{ volumeMounts: [{ name: "scratch" }], volumeDevices: [{ name: "disk" }] }];
    expect(pod("team/p", { volumes, containers }).claims).to.deep.equal([
      { volume: "scratch", claimName: "p-scratch", readOnly: false, ephemeral: true, device: false },
      { volume: "disk", claimName: "raw", readOnly: false, ephemeral: false, device: true },
    ]);
  });

  it("a mirror pod has the UID of its static pod, and is kept only if that can be one", () => {
    const mirror = (hash: string) => ({
      annotations: { "kubernetes.io/config.mirror": hash, "kubernetes.io/config.hash": hash },
    });
    const kept = pod("team/p", mirror("5f0c1d2e"));
    expect([kept.uid, kept.metadata.uid, kept.isMirror]).to.deep.equal(["5f0c1d2e", "uid-p", true]);
    expect(projectPod(rawPod("team/p", mirror("../../other")))).to.equal(undefined);
    expect(projectPod(rawPod("team/p", mirror("a".repeat(65))))).to.equal(undefined);
  });

  it("keeps what is wrong with a volume, to say so", () => {
    const [volume] = pod("team/p", { volumes: [ours({ set: "a", readonly: "true" })] }).volumes;
    expect(volume?.request).to.include({ field: "csi.volumeAttributes[readonly]" });
    const [readOnly] = pod("team/p", { volumes: [ours({ set: "a" }, "v", { readOnly: true })] }).volumes;
    expect(readOnly?.request).to.include({ readOnly: true });
  });

  it("keeps 64 volumes and 64 claims of a pod, and what to say of the others: one pod must not be written thousands of times", () => {
    const many = (one: (name: string) => object) => Array.from({ length: 100 }, (_, i) => one(`v${i}`));
    const { volumes } = pod("team/p", { volumes: many((name) => ours({ set: "a" }, name)) });
    expect(volumes.length).to.equal(65);
    expect(volumes.at(-1)).to.deep.include({ name: "v64" });
    expect(volumes.at(-1)?.request).to.include({ field: "csi" });
    const claims = many((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    expect(pod("team/p", { volumes: claims }).claims.length).to.equal(64);
  });

  it("copes with what is no pod", () => {
    for (const raw of [undefined, null, 7, {}, { metadata: {} }, { metadata: { name: "p" }, spec: { volumes: 3 } }]) {
      expect(projectPod(raw)).to.equal(undefined);
    }
    expect(projectNamespace({ metadata: { name: "team", labels: { a: "b" }, managedFields: [] } })).to.deep.equal({
      metadata: { name: "team", uid: "", resourceVersion: "", labels: { a: "b" } },
    });
  });
});
