import { FAN } from "../syscall/constants.ts";
import { fanotify_event_metadata as AT, fanotify_event_info_mnt as INFO } from "../syscall/layouts.ts";

/** Changes of mounts that fanotify has reported since the last read. */
export interface MountChanges {
  /** Unique ids of mounts that came, moved or went. */
  readonly ids: readonly number[];
  /** Whether events were dropped: anything may have happened. */
  readonly overflow: boolean;
}

/** PURE. What a read of a fanotify descriptor says. */
export function parseFanotifyEvents(buffer: Buffer, length: number): MountChanges {
  const ids: number[] = [];
  let overflow = false;
  for (let at = 0; at < length; ) {
    const end = at + buffer.readUInt32LE(at + AT.event_len);
    if ((buffer.readUInt32LE(at + AT.mask) & FAN.Q_OVERFLOW) !== 0) overflow = true;
    let info = at + buffer.readUInt16LE(at + AT.metadata_len);
    while (info < end) {
      const type = buffer.readUInt8(info + INFO["hdr.info_type"]);
      if (type === FAN.EVENT_INFO_TYPE_MNT) {
        ids.push(buffer.readUInt32LE(info + INFO.mnt_id) + buffer.readUInt32LE(info + INFO.mnt_id + 4) * 2 ** 32);
      }
      info += Math.max(4, buffer.readUInt16LE(info + INFO["hdr.len"]));
    }
    if (end <= at) return { ids, overflow: true }; // not understood: everything is read anew
    at = end;
  }
  return { ids, overflow };
}
