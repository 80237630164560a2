import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { desiredVolume } from "../../../src/agent/desired/desired-volume.ts";
import { OperationExecutor, type OperationExecutorDeps } from "../../../src/agent/executor/operation-executor.ts";
import { PendingOperations } from "../../../src/agent/executor/pending-operations.ts";
import { Journal } from "../../../src/agent/journal/journal.ts";
import { asVolumeName, type MountPath } from "../../../src/agent/model/identities.ts";
import type { Operation } from "../../../src/agent/model/operation.ts";
import type { StageRecord, VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import type { Effects } from "../../../src/host/ports/host-ports.ts";
import { entry } from "../../lib/builders/mount-entries.ts";
import { record, targetRecord, wanted } from "../../lib/builders/plan-world.ts";
import { virtualSystem } from "../kube/virtual-system.ts";
import { FakeHost } from "./fake-host.ts";

const volume = asVolumeName("node.volume-1");
export const kubeletDir = "/var/lib/kubelet";
const settings = { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir };
export const child = { pid: 77, startTime: 5 };
export const identity = { device: "0:50", root: "/", source: "tmpfs" };
export const staging = "/state/staging/key";
export const staged: StageRecord = { kind: "filesystem", path: staging, ready: true, options: [], identity };
export const target = (path: MountPath, more: object = {}) => targetRecord({ path, identity, ...more });
export const mounted = (id: number, point: string) => entry({ id, point, ...identity });
export const intent = (paths: readonly string[], more: object = {}) =>
  desiredVolume(wanted({ mounts: paths.map((path) => ({ path })), ...more }), "key");

/** An executor on a fake host, and what it did that the host itself does not keep. */
export async function world(before?: Partial<VolumeRecord>, more: Partial<OperationExecutorDeps> = {}) {
  const system = virtualSystem();
  const host = new FakeHost();
  const journal = await Journal.open(host.journal, "boot-1", system.log);
  if (before !== undefined) await journal.put(record({ name: volume, key: "key", targets: [], ...before }));
  const none = { drivers: noDrivers, secret: async () => new Map(), content: () => undefined };
  const executor = new OperationExecutor({
    operations: new PendingOperations({ system, journal, evidence: host.evidence }),
    system,
    host,
    journal,
    settings,
    ...none,
    observed() {},
    progress() {},
    ...more,
  });
  const removed: string[] = [];
  const effects = host.effects.bind(host);
  const change = (how: (all: Effects, operation: Parameters<FakeHost["effects"]>) => Effects) => {
    const next = host.effects.bind(host);
    host.effects = (...operation: Parameters<FakeHost["effects"]>) => how(next(...operation), operation);
  };
  host.effects = () => {
    const all = effects();
    return { ...all, mounter: { ...all.mounter, removeTarget: async ({ path }) => void removed.push(path) } };
  };
  const run = (operation: object, desired?: ReturnType<typeof intent>) =>
    executor.run({ volume, ...operation } as Operation, desired);
  return { system, host, journal, removed, change, run, kept: () => journal.records.get(volume) };
}
