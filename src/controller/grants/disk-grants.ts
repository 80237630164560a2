import { wholeDisk } from "../../api/disk-name.ts";
import { ApiError, classifyWriteError } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Logger } from "../../ports.ts";
import type { AttachStatusWriter } from "../attach/attach-status-writer.ts";
import type { Intent } from "../model/projections.ts";
import { isGuarded, type VolumeID, type VolumeKey, volumeKey } from "../model/volume-key.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { createGroups } from "../util/groups.ts";
import { askedBy, type DiskMember, decideDisk, diskHeldElsewhere } from "./decide-disk.ts";
import { patchIntent } from "./patch-intent.ts";

/** Of the key of a disk, whatever intents call it: no plugin of kubelet's is called so. */
const driver = "kubernetes.io/any-disk";

/** Dependencies of granting disks that several nodes reach (decision 0098). */
export interface DiskGrantsDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly intents: ObjectStore<Intent>;
  readonly attachStatus: Pick<AttachStatusWriter, "write">;
  readonly upsertIntent: (raw: unknown) => void;
  /** A disk, or a volume that waits for one, is due, by its key. */
  readonly onDue: (key: VolumeKey) => void;
  readonly keyOf: (intent: Intent) => VolumeKey;
  /** Milliseconds after which to look again, if others may have written what the agent of a node says. */
  readonly doubtForMs: (node: string) => number | undefined;
}

/**
 * Grants a disk that several nodes reach to one at a time, once an agent has said which it has found: it waits for that
 * before it writes to the disk (decision 0098).
 */
export interface DiskGrants {
  /** Whether a key is that of a disk. */
  isKey(id: VolumeID): boolean;
  /** @returns milliseconds after which to look again, if any */
  reconcile(id: VolumeID): Promise<RequeueAfter | undefined>;
  /** What keeps an intent from the disk that it has found. */
  waitReasonOf(intent: Intent): WaitReason | undefined;
  all(): void;
  /** Another has led meanwhile, and all was read since. */
  forget(): void;
  stop(): void;
}

/** Grants disks that intents of this store have found. */
export function createDiskGrants(deps: DiskGrantsDeps): DiskGrants {
  const { intents } = deps;
  /** Names of intents by disk: by what they were given, and by what they have found. */
  const given = createGroups();
  const found = createGroups();
  /** Written and not seen yet, or not answered; by UID of the intent. */
  const giving = new Map<string, string>();

  const keyOf = (disk: string) => volumeKey({ driver, volumeHandle: wholeDisk(disk) });

  function put(groups: typeof given, name: string, disk: string | undefined): readonly VolumeKey[] {
    const before = disk ? groups.put(name, wholeDisk(disk)) : groups.remove(name);
    return [before, disk].flatMap((one) => (one ? [keyOf(one)] : []));
  }

  function see({ metadata, spec, status }: Intent): void {
    const { name, uid = "" } = metadata;
    if (spec.grant?.disk !== undefined && spec.grant.disk === giving.get(uid)) giving.delete(uid);
    for (const key of [...put(given, name, spec.grant?.disk), ...put(found, name, status.disk)]) deps.onDue(key);
  }

  function lose({ metadata }: Intent): void {
    giving.delete(metadata.uid ?? "");
    for (const key of [...put(given, metadata.name, undefined), ...put(found, metadata.name, undefined)])
      deps.onDue(key);
  }

  function membersOf(disk: string): DiskMember[] {
    const names = new Set([...given.of(disk), ...found.of(disk)]);
    return [...names].flatMap((name) => {
      const intent = intents.get(name);
      return intent === undefined ? [] : [{ intent, giving: giving.get(intent.metadata.uid ?? "") }];
    });
  }

  async function give(seen: Intent, disk: string): Promise<void> {
    const { name, uid = "" } = seen.metadata;
    giving.set(uid, disk);
    // What the server has is in the store by now: the reconcile of another disk may have begun, and given that.
    const forget = () => giving.get(uid) === disk && giving.delete(uid);
    // Its agent may have found another one meanwhile, or the disk may have been given already by a write without an
    // answer.
    const isDue = (intent: Intent) => intent.spec.grant?.id === seen.spec.grant?.id && askedBy(intent) === disk;
    try {
      const { written } = await patchIntent(deps, seen, isDue, { grant: { disk } });
      if (written) deps.log.info("disk granted", { intent: name, node: seen.spec.nodeName, disk });
      else forget();
    } catch (error) {
      // Refused: nothing was written.
      if (error instanceof ApiError && classifyWriteError(error) !== "uncertain") forget();
      throw error;
    }
  }

  const stop = intents.subscribe({ onAdd: see, onUpdate: (_, after) => see(after), onDelete: lose });

  return {
    isKey: (id) => id.driver === driver,
    async reconcile({ volumeHandle: disk }) {
      const members = membersOf(disk);
      const waiting = new Map<string, WaitReason>();
      const writeInMs: number[] = [];
      for (const decision of decideDisk(members)) {
        const { intent } = decision;
        if ("waitReason" in decision) {
          waiting.set(intent.metadata.name, decision.waitReason);
          continue;
        }
        // A wrong one would stay: an agent takes no other than it was given until the volume is released.
        const doubtMs = deps.doubtForMs(intent.spec.nodeName);
        if (doubtMs === undefined) await give(intent, decision.give);
        else writeInMs.push(doubtMs);
      }
      for (const { intent } of members) {
        // Of what has a queue of its own that says all words.
        if (isGuarded(intent.spec.source)) deps.onDue(deps.keyOf(intent));
        else writeInMs.push((await deps.attachStatus.write(intent, waiting.get(intent.metadata.name))) ?? Infinity);
      }
      const soonest = Math.min(...writeInMs);
      return Number.isFinite(soonest) ? soonest : undefined;
    },
    waitReasonOf: (intent) => {
      const disk = intent.status.disk;
      return disk === undefined ? undefined : diskHeldElsewhere(membersOf(wholeDisk(disk)), intent);
    },
    all() {
      for (const intent of intents.list()) see(intent);
    },
    forget: () => giving.clear(),
    stop,
  };
}
