import { hash } from "node:crypto";
import type { NodePod } from "../../../src/agent/orphans/node-pods.ts";
import type { ReapWorld, StagedEvidence } from "../../../src/agent/orphans/orphan-proof.ts";
import type { Orphan } from "../../../src/api/types.gen.ts";
import { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import { entry } from "./mount-entries.ts";
import { planWorld, wanted } from "./plan-world.ts";

export const kubeletDir = "/var/lib/kubelet";
export const [live, dead] = ["11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"];
const disk = { device: "7:0", fsType: "ext4", source: "/dev/loop0", shared: 9 };
export const rootMount = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
/** What the driver of a pod that is gone has published. */
export const podMount = entry({
  id: 41,
  point: `${kubeletDir}/pods/${dead}/volumes/kubernetes.io~csi/pv-1/mount`,
  ...disk,
});
const handle = "vol-1";
const directory = `${kubeletDir}/plugins/kubernetes.io/csi/d.example/${hash("sha256", handle, "hex")}`;
/** What it has staged, with no pod left that has it. */
export const globalmount = entry({ id: 40, point: `${directory}/globalmount`, ...disk });

export const pod = (more: Partial<NodePod> = {}): NodePod => ({
  uid: live,
  name: "team/web-0",
  phase: "Running",
  claims: [],
  ...more,
});

export const staged: StagedEvidence = { isKnown: true, isRegistered: true, unstages: true, apart: [] };

export function orphanOf(mount: MountEntry, more: Partial<Orphan> = {}): Orphan {
  const kind = mount.point.endsWith("globalmount") ? "Staging" : "PodMount";
  return { kind, path: mount.point, mountID: mount.id, source: "ext4 (/dev/loop0)", reason: "LeftByKubelet", ...more };
}

/** A world in which what is mounted is proved to be nobody's. */
export function reapWorld(mounts: readonly MountEntry[], more: Partial<ReapWorld> = {}): ReapWorld {
  const table = new MountTable([rootMount, ...mounts]);
  return {
    ...{ kubeletDir, alive: 600_000, graceMs: 600_000, pods: [pod()], cgroups: new Set([live]) },
    ...{ table, own: table, volumes: [], staged },
    ...more,
  };
}

/** Plans with an intent that says which volume the claim of a pod is. */
export function planOfClaim(uid: string, volume: string, volumeHandle?: string, more = {}) {
  const known = volumeHandle === undefined ? more : { driver: "d.example", volumeHandle };
  const observed = { plugin: "kubernetes.io/csi", volumeName: "pv-2", ...known };
  const pods = [{ uid, namespace: "team", name: "new", volume, readOnly: false }];
  const source = { persistentVolumeClaim: { namespace: "team", claimName: "c" } };
  return planWorld({ intents: [wanted({ mode: "Observe", source, mounts: [], observed, pods })] });
}
