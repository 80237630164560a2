/** struct fanotify_event_metadata, and struct fanotify_event_info_mnt behind it. */
const AT = { length: 0, metadataLength: 6, mask: 8, infoType: 0, infoLength: 2, infoID: 8 } as const;
const FAN_Q_OVERFLOW = 0x4000;
const FAN_EVENT_INFO_TYPE_MNT = 7;

export interface ToldMounts {
  /** Unique ids of mounts that came, moved or went. */
  readonly ids: readonly number[];
  /** Whether events were dropped: anything may have happened. */
  readonly overflow: boolean;
}

/** PURE. What a read of a fanotify descriptor says. */
export function parseToldMounts(buffer: Buffer, length: number): ToldMounts {
  const ids: number[] = [];
  let overflow = false;
  for (let at = 0; at < length; ) {
    const end = at + buffer.readUInt32LE(at + AT.length);
    if ((buffer.readUInt32LE(at + AT.mask) & FAN_Q_OVERFLOW) !== 0) overflow = true;
    let info = at + buffer.readUInt16LE(at + AT.metadataLength);
    while (info < end) {
      const type = buffer.readUInt8(info + AT.infoType);
      if (type === FAN_EVENT_INFO_TYPE_MNT) {
        ids.push(buffer.readUInt32LE(info + AT.infoID) + buffer.readUInt32LE(info + AT.infoID + 4) * 2 ** 32);
      }
      info += Math.max(4, buffer.readUInt16LE(info + AT.infoLength));
    }
    if (end <= at) return { ids, overflow: true }; // not understood: everything is read anew
    at = end;
  }
  return { ids, overflow };
}
