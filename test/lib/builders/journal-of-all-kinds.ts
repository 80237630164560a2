import { formatForget, formatJournal, formatPut, formatReap } from "../../../src/agent/journal/journal-format.ts";
import type { ReapRecord } from "../../../src/agent/journal/reap-record.ts";
import { asMountPath, asVolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { record, stageRecord, targetRecord } from "./plan-world.ts";

const child = { pid: 4711, startTime: "123456" };
const csi = {
  driver: "csi.example.com",
  volumeHandle: "hãndle/1", // of more bytes than characters
  ...{ directory: "/csi/key", needsUnstage: true, block: false, calls: { stage: { at: 5, epoch: 2 } } },
  shown: [{ identity: { device: "7:1", root: "/" }, writable: true, device: { number: "7:1", path: "/dev/loop1" } }],
};

/** A record of each kind that the agent writes. */
const kinds: readonly VolumeRecord[] = [
  record({ name: asVolumeName("node.bind"), type: "hostPath", stage: stageRecord({ kind: "path", path: "/data" }) }),
  record({ name: asVolumeName("node.memory") }),
  record({
    name: asVolumeName("node.directory"),
    stage: stageRecord({ kind: "directory", directory: { device: "0:50", inode: 12 } as never, inode: 12 }),
  }),
  record({
    name: "node.disk",
    type: "local",
    stage: stageRecord({ ready: false, deviceNumber: "7:3" }),
    child,
  } as never),
  record({ name: asVolumeName("node.formatting"), type: "iscsi", formatting: "8:16", targets: [] }),
  record({ name: asVolumeName("node.csi"), type: "csi", stage: stageRecord({ csi } as never) }),
  record({
    name: asVolumeName("node.pods"),
    targets: [
      targetRecord({ pod: { uid: "pod-1", volume: "data", namespace: "team", name: "pod" } }),
      targetRecord({ path: asMountPath("/mnt/nodevolume/b"), published: { path: "/csi/key/b", readOnly: true } }),
    ],
  }),
  record({ name: asVolumeName("node.going"), revoked: true, generation: 3 }),
  record({ name: asVolumeName("node.gone"), revoked: true, targets: [] }),
];

const reap: ReapRecord = {
  ...{ path: "/var/lib/kubelet/pods/1/volumes/x", kind: "PodMount", mountID: 7, source: "server:/x", proof: "none" },
};

/** The lines of a journal with all of that, and with changes of it, as an agent writes them one by one. */
export function journalOfAllKinds(bootID: string): string[] {
  const written = formatJournal({ bootID, epoch: 3, records: new Map(kinds.map((it) => [it.name, it])) });
  const [first, second] = kinds;
  if (first === undefined || second === undefined) throw new Error("no records");
  const changes = [
    formatPut({ ...first, generation: 2, targets: [] }),
    formatReap(reap.path, reap),
    formatPut({ ...first, generation: 2 }),
    formatForget(asVolumeName("node.gone")),
    formatReap(reap.path, undefined),
    formatPut({ ...second, name: asVolumeName("node.last") }),
  ];
  return [
    ...written
      .split("\n")
      .slice(0, -1)
      .map((line) => `${line}\n`),
    ...changes,
  ];
}
