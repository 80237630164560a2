import type { AttachedVolume, Grant } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { type ChosenDisk, chosenOf, isOneDisk, isSameDisk } from "../../plugins/api/disk-choice.ts";
import { sourceDiffers } from "../../plugins/api/source-differs.ts";
import type { StageContext } from "../../plugins/api/volume-plugin.ts";
import type { Journal } from "../journal/journal.ts";
import type { VolumeName } from "../model/identities.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import { type ActionContext, recordOf } from "./operation-context.ts";

/** Disks that are on their way into a journal: two volumes may ask for one at the same time. */
const onTheWay = new WeakMap<Journal, Map<VolumeName, ChosenDisk>>();

/** The disk that a volume has, and what others have, by the journal. */
export function disksOf(
  context: ActionContext,
  volume: VolumeName,
  grant: Grant | undefined,
): Pick<
  StageContext,
  "disk" | "otherDisks" | "recordDisk" | "seenDisks" | "recordSeenDisks" | "requireDiskGrant" | "attachedVolumes"
> {
  const { journal } = context;
  const answer = answerTo(context, volume, grant);
  const claimed = onTheWay.get(journal) ?? new Map<VolumeName, ChosenDisk>();
  onTheWay.set(journal, claimed);
  const otherDisks = () => {
    const recorded = [...journal.records.values()].flatMap(({ name, disk }) => (disk ? [{ name, disk }] : []));
    const all = [...recorded, ...[...claimed].map(([name, disk]) => ({ name, disk }))];
    return all.filter(({ name }) => name !== volume);
  };
  return {
    disk: journal.records.get(volume)?.disk,
    otherDisks,
    seenDisks: journal.records.get(volume)?.seenDisks,
    recordSeenDisks: (seenDisks) => journal.put({ ...recordOf(context, volume), seenDisks }),
    async requireDiskGrant(name) {
      if (grant?.disk !== undefined && !["", name].includes(grant.disk)) {
        const what = `the disk is ${name} now, but was ${grant.disk} when the volume was set up: it is not used`;
        throw sourceDiffers(what, `Bring back ${grant.disk}`);
      }
      const record = recordOf(context, volume);
      if (record.sharedDisk !== name) await journal.put({ ...record, sharedDisk: name });
      if (grant?.disk === undefined || grant.disk === name) return; // a controller from before grant.disk
      const message = `the disk ${name} may be reached by other nodes: it waits until the controller has compared it with theirs. If that takes long, see that a controller leads`;
      throw new VolumeError("DiskNotCompared", "transient", message);
    },
    // A controller from before grant.disk answers nothing, and is not asked. One that writes that field, but no
    // answers, is asked: the volume waits until a newer one leads.
    attachedVolumes: grant?.disk === undefined ? undefined : (...of) => attachedVolumes(context, volume, answer, ...of),
    async recordDisk(disk, uuid) {
      const chosen = chosenOf(disk, uuid);
      const isIt = disk.named === true ? isOneDisk : isSameDisk;
      const other = otherDisks().find((one) => isIt(one.disk, chosen));
      if (other !== undefined) {
        const message = `/dev/${disk.name} is the disk of ${other.name}: select a disk for each volume, or wait until that one is released`;
        throw new VolumeError("DeviceBusy", "transient", message, {
          on: { kind: "Device", name: `/dev/${disk.name}` },
        });
      }
      claimed.set(volume, chosen);
      try {
        await journal.put({ ...recordOf(context, volume), disk: chosen });
      } finally {
        claimed.delete(volume);
      }
    },
  };
}

/**
 * How long an answer holds for a disk that the kernel has not counted (before Linux 5.15), in milliseconds, from when
 * this run of the agent first saw it to the start of the attempt: a selection may last longer than this.
 */
const recentMs = 60_000;

type Request = NonNullable<VolumeRecord["attachmentsAsked"]>;

/** The answer that an attempt has from its start on. */
interface Answer {
  readonly request: string;
  readonly volumes: readonly AttachedVolume[];
  readonly isRecent: boolean;
}

/** When this run of the agent first saw the answer to a request, in milliseconds of CSIAccess.now. */
const firstSeen = new WeakMap<Request, number>();

/** The answer to the last request, at the start of an attempt; undefined if there is none yet. */
function answerTo({ journal, csi }: ActionContext, volume: VolumeName, grant: Grant | undefined): Answer | undefined {
  const asked = journal.records.get(volume)?.attachmentsAsked;
  const attachments = grant?.attachments;
  if (asked === undefined || attachments?.request !== asked.request) return undefined;
  const { epoch, ms } = csi.now();
  const since = firstSeen.get(asked) ?? ms;
  firstSeen.set(asked, since);
  return { ...attachments, isRecent: isOfEpoch(asked, epoch) && ms - since < recentMs };
}

/** PURE. Whether this run of the agent made a request. */
function isOfEpoch({ request }: Request, epoch: number): boolean {
  return request.startsWith(`${epoch}-`);
}

/**
 * Asks the controller, and has its answer at a later attempt. An answer holds for the disks that were there when it was
 * asked for: a VolumeAttachment is older than the device that it brings. A disk that may have gone and come again since
 * needs a recent one. A request that waits for its answer is not replaced by another for the same disks: it would never
 * be answered where an attempt, or the controller, takes long.
 */
async function attachedVolumes(
  context: ActionContext,
  volume: VolumeName,
  answer: Answer | undefined,
  disks: readonly string[],
  { counted }: { readonly counted: boolean },
): Promise<readonly AttachedVolume[]> {
  const record = recordOf(context, volume);
  const { attachmentsAsked: asked } = record;
  const has = asked?.request === answer?.request ? answer : undefined;
  const { epoch, ms } = context.csi.now();
  const covers = asked !== undefined && disks.every((disk) => asked.disks.includes(disk));
  if (covers && has !== undefined && (counted || has.isRecent)) return has.volumes;
  const waits = covers && has === undefined && (counted || isOfEpoch(asked, epoch));
  if (!waits) {
    await context.journal.put({ ...record, attachmentsAsked: { request: `${epoch}-${ms}`, disks } });
  }
  const message =
    "it waits until the controller has said which disks of the node are attached for others. If that takes long, check that a controller leads, and that the node has at most 256 VolumeAttachments";
  throw new VolumeError("DiskNotCompared", "transient", message);
}
