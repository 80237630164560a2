import type { AttachedVolume, Grant } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { type ChosenDisk, chosenOf, isOneDisk, isSameDisk } from "../../plugins/api/disk-choice.ts";
import { sourceDiffers } from "../../plugins/api/source-differs.ts";
import type { StageContext } from "../../plugins/api/volume-plugin.ts";
import type { Journal } from "../journal/journal.ts";
import { type ActionContext, recordOf } from "./operation-context.ts";

/** Disks that are on their way into a journal: two volumes may ask for one at the same time. */
const onTheWay = new WeakMap<Journal, Map<string, ChosenDisk>>();

/** The disk that a volume has, and what others have, by the journal. */
export function disksOf(
  context: ActionContext,
  volume: string,
  grant: Grant | undefined,
): Pick<
  StageContext,
  "disk" | "otherDisks" | "recordDisk" | "seenDisks" | "recordSeenDisks" | "requireDiskGrant" | "attachedVolumes"
> {
  const { journal } = context;
  const claimed = onTheWay.get(journal) ?? new Map<string, ChosenDisk>();
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
      if (grant?.disk === undefined || grant.disk === name) return; // a controller of before compares nothing
      const message = `the disk ${name} may be reached by other nodes: it waits until the controller has compared it with theirs. If that takes long, see that a controller leads`;
      throw new VolumeError("DiskNotCompared", "transient", message);
    },
    // A controller of before writes no such field of a grant, and answers nothing.
    attachedVolumes: grant?.disk === undefined ? undefined : (...of) => attachedVolumes(context, volume, grant, ...of),
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

/** How long an answer holds for a disk that the kernel has not counted (before Linux 5.15), in milliseconds. */
const recentMs = 60_000;

/** PURE. Whether a request was made a short while ago, by this run of the agent: an earlier one has another clock. */
function isRecent(request: string | undefined, { epoch, ms }: { readonly epoch: number; readonly ms: number }) {
  const [of, at] = (request ?? "").split("-").map(Number);
  return of === epoch && at !== undefined && ms - at < recentMs;
}

/**
 * Asks the controller, and has its answer at a later attempt. An answer holds for the disks that were there when it was
 * asked for: a VolumeAttachment is older than the device that it brings. A disk that may have gone and come again since
 * needs a recent one.
 */
async function attachedVolumes(
  context: ActionContext,
  volume: string,
  grant: Grant,
  disks: readonly string[],
  { counted }: { readonly counted: boolean },
): Promise<readonly AttachedVolume[]> {
  const record = recordOf(context, volume);
  const { attachmentsAsked: asked } = record;
  const { epoch, ms } = context.csi.now();
  const lasting = counted || isRecent(asked?.request, { epoch, ms });
  const covered = asked !== undefined && lasting && disks.every((disk) => asked.disks.includes(disk));
  if (covered && grant.attachments?.request === asked.request) return grant.attachments.volumes;
  if (!covered) {
    await context.journal.put({ ...record, attachmentsAsked: { request: `${epoch}-${ms}`, disks } });
  }
  const message =
    "it waits until the controller has said which disks of the node are attached for others. If that takes long, check that a controller leads, and that the node has at most 256 VolumeAttachments";
  throw new VolumeError("DiskNotCompared", "transient", message);
}
