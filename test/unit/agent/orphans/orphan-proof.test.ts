import { expect } from "chai";
import { neverReaped, orphanProof } from "../../../../src/agent/orphans/orphan-proof.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  dead,
  globalmount,
  kubeletDir,
  live,
  orphanOf,
  planOfClaim,
  pod,
  podMount,
  reapWorld,
  rootMount,
  staged,
} from "../../../lib/builders/reap-world.ts";

const kept = (mount: MountEntry, world = reapWorld([mount])) => {
  const proof = orphanProof(orphanOf(mount), world);
  return "kept" in proof ? proof.kept : undefined;
};
const others = (mount: MountEntry, ...more: MountEntry[]) => reapWorld([mount, ...more]);

describe("what is proved before something that kubelet has left is removed", () => {
  it("is that the pod is not in the API, has no cgroup, and that the mount is this one", () => {
    const proof = orphanProof(orphanOf(podMount), reapWorld([podMount]));
    expect(proof).to.deep.include({ mount: podMount });
    expect("proof" in proof && proof.proof).to.contain(dead);
    expect(orphanProof(orphanOf(globalmount), reapWorld([globalmount]))).to.have.property("proof");
  });

  for (const mount of [podMount, globalmount]) {
    describe(`of ${orphanOf(mount).kind}: it stays`, () => {
      const cases: [string, () => ReturnType<typeof reapWorld>, string][] = [
        ["kubelet is down", () => reapWorld([mount], { alive: "no Lease" }), "no Lease"],
        ["kubelet was down a while ago", () => reapWorld([mount], { alive: 599_999 }), "the whole grace period"],
        ["no cgroup is seen", () => reapWorld([mount], { cgroups: undefined }), "no cgroup"],
        [
          "the cgroup of a pod that runs is not seen",
          () => reapWorld([mount], { pods: [pod(), pod({ uid: "other", name: "team/other" })] }),
          "team/other runs, and its cgroup is not seen",
        ],
        ["another mount came to the path", () => reapWorld([{ ...mount, id: 99 }]), "another mount is there"],
        ["another mount got its id", () => reapWorld([{ ...mount, uniqueID: 7 }]), "another mount is there"],
        ["nothing is mounted there any more", () => reapWorld([]), "another mount is there"],
        [
          "it is covered",
          () => others(mount, entry({ id: 50, parent: mount.id, point: mount.point })),
          "another mount",
        ],
        [
          "it lies on another one",
          () => reapWorld([entry({ id: 30, point: mount.point, device: "0:9" }), { ...mount, parent: 30 }]),
          "over it or beneath it",
        ],
        [
          "something is mounted beneath it",
          () => others(mount, entry({ id: 51, parent: mount.id, point: `${mount.point}/sub`, device: "0:9" })),
          "mounted beneath it",
        ],
        [
          "something is mounted on the way",
          () => {
            const above = entry({ id: 30, point: mount.point.slice(0, mount.point.lastIndexOf("/")), device: "0:9" });
            return reapWorld([above, { ...mount, parent: 30 }]);
          },
          "on the way",
        ],
      ];
      for (const [what, world, why] of cases) it(what, () => expect(kept(mount, world())).to.contain(why));
    });
  }

  describe("of a pod: it stays", () => {
    const world = (more: Parameters<typeof reapWorld>[1]) => reapWorld([podMount], more);
    it("while the API server has the pod, in whatever phase", () => {
      for (const phase of ["Pending", "Succeeded", "Failed", "Unknown"])
        expect(kept(podMount, world({ pods: [pod({ uid: dead, phase })] })), phase).to.contain(phase);
    });

    it("while a mirror stands for it", () => {
      const pods = [pod({ mirrorOf: dead, phase: "Pending" })];
      expect(kept(podMount, world({ pods }))).to.contain("team/web-0");
    });

    it("when it has a cgroup again", () => {
      expect(kept(podMount, world({ cgroups: new Set([live, dead]) }))).to.equal("the pod has a cgroup");
    });

    it("where the agent sees another mount, or none, or not the node's own", () => {
      const own = (...mounts: MountEntry[]) => world({ own: new MountTable([rootMount, ...mounts]) });
      expect(kept(podMount, own({ ...podMount, id: 77 })), "a peer of it").to.equal(undefined);
      for (const differs of [{ device: "7:1" }, { root: "/x" }, { shared: 8 }]) {
        expect(kept(podMount, own({ ...podMount, ...differs }))).to.contain("does not see it");
      }
      const { shared: _none, ...alone } = podMount;
      expect(kept(podMount, own(alone)), "a copy of its own").to.contain("does not see it");
      const unheard = { table: new MountTable([rootMount, alone]), own: new MountTable([rootMount, alone]) };
      expect(kept(podMount, world(unheard)), "neither is shared").to.contain("does not see it");
      expect(kept(podMount, own())).to.contain("does not see it");
    });
  });

  it("takes the mirror's static pod for what has the cgroup", () => {
    const pods = [pod({ uid: "of-the-mirror", mirrorOf: "static" })];
    expect(kept(podMount, reapWorld([podMount], { pods, cgroups: new Set(["static"]) }))).to.equal(undefined);
  });

  describe("of a staged volume: it stays", () => {
    const world = (more: Parameters<typeof reapWorld>[1]) => reapWorld([globalmount], more);
    it("while it is mounted anywhere else on the node", () => {
      const elsewhere = { ...globalmount, id: 60, point: "/mnt/x", root: "/part" };
      expect(kept(globalmount, others(globalmount, elsewhere))).to.contain("/mnt/x");
    });

    it("while a pod that does not run yet waits for a claim that no intent explains", () => {
      const pods = [pod(), pod({ uid: "new", name: "team/new", phase: "Pending", claims: ["data"] })];
      expect(kept(globalmount, world({ pods }))).to.contain("pod team/new waits for a claim (volume data)");
      const volumes = (...args: Parameters<typeof planOfClaim>) => [...planOfClaim(...args).volumes.values()];
      expect(kept(globalmount, world({ pods, volumes: volumes("new", "data", "another") }))).to.equal(undefined);
      for (const unknown of [
        volumes("new", "data"),
        volumes("new", "data", undefined, { driver: "d.example" }),
        volumes("new", "other", "h"),
        volumes("old", "data", "h"),
      ])
        expect(kept(globalmount, world({ pods, volumes: unknown }))).to.contain("waits for a claim");
      const phases = ["Running", "Succeeded", "Failed"].map((phase) => pod({ phase, claims: ["data"] }));
      expect(kept(globalmount, world({ pods: phases })), "these get no more").to.equal(undefined);
      expect(kept(globalmount, world({ pods: [pod({ phase: "Unknown", claims: ["data"] })] }))).not.to.equal(undefined);
    });

    it("while kubelet's word, the driver, or another mount namespace does not let it go", () => {
      expect(kept(globalmount, world({ staged: { ...staged, isKnown: false } }))).to.contain("vol_data.json");
      expect(kept(globalmount, world({ staged: { ...staged, isRegistered: false } }))).to.contain("not registered");
      expect(kept(globalmount, world({ staged: { ...staged, unstages: false } }))).to.contain("NodeUnstageVolume");
      const apart = [{ pid: 7, command: "sh", mountPoint: "/data" }];
      expect(kept(globalmount, world({ staged: { ...staged, apart } }))).to.contain("pid 7 (sh) at /data");
    });
  });
});

describe("what is never removed, whatever is known of it", () => {
  const never = (path: string, more = {}) => neverReaped(orphanOf(entry({ id: 1, point: path }), more), kubeletDir);
  it("is what kubelet is at, a loop device, and what is the agent's own", () => {
    expect(never(podMount.point)).to.equal(undefined);
    expect(never(podMount.point, { reason: "TargetBusy" })).to.contain("kubelet is at it");
    expect(never("/dev/loop1", { kind: "LoopDevice" })).to.contain("loop device");
    for (const reason of ["Retained", "UnexplainedRemoval"])
      expect(never(podMount.point, { reason })).to.contain("the agent's own");
  });

  it("is a path that kubelet does not give to a volume of a pod of the API server", () => {
    const pods = `${kubeletDir}/pods`;
    const csi = `${kubeletDir}/plugins/kubernetes.io/csi`;
    for (const fine of [
      `${pods}/${dead}/volumes/kubernetes.io~projected/kube-api-access`,
      `${pods}/${dead}/volume-subpaths/pv-1/main/0`,
    ])
      expect(never(fine), fine).to.equal(undefined);
    for (const path of [
      `${pods}/${"0123456789abcdef".repeat(2)}/volumes/kubernetes.io~secret/x`, // a static pod
      `${pods}/${dead}`,
      `${pods}/${dead}/volumes/kubernetes.io~csi/pv-1`,
      `${pods}/${dead}/volumes/kubernetes.io~csi/pv-1/mount/below`,
      `${pods}/${dead}/volumes/vendor~flex/x`,
      `${pods}/${dead}/containers/main/x`,
      `${pods}/${dead.toUpperCase()}x/volumes/kubernetes.io~secret/x`,
      `${csi}/pv/pv-1/globalmount`,
      `${csi}/volumeDevices/staging/pv-1`,
      `${csi}/../${"a".repeat(64)}/globalmount`,
      `${kubeletDir}/plugins/d.example/${"a".repeat(64)}/globalmount`,
      `/var/lib/containers${podMount.point}`,
    ])
      expect(never(path, { kind: path.endsWith("globalmount") ? "Staging" : "PodMount" }), path).not.to.equal(
        undefined,
      );
  });
});
