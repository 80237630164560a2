import { closeSync } from "node:fs";
import type { MountCalls } from "./mount-calls.ts";

/** struct fanotify_event_metadata, and struct fanotify_event_info_mnt behind it. */
const AT = { length: 0, metadataLength: 6, mask: 8, infoType: 0, infoLength: 2, infoID: 8 } as const;
const FAN_Q_OVERFLOW = 0x4000;
const FAN_EVENT_INFO_TYPE_MNT = 7;
/** An event of a mount is 40 bytes. */
const bufferBytes = 40 * 512;

export interface ToldMounts {
  /** Unique ids of mounts that came, moved or went. */
  readonly ids: readonly number[];
  /** Whether events were dropped: anything may have happened. */
  readonly overflow: boolean;
}

/** PURE. What a read of a fanotify descriptor says. */
export function parseMountEvents(buffer: Buffer, length: number): ToldMounts {
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

/** The mounts of a namespace that come, move and go, as fanotify(7) tells of them: never of changed options. */
export class MountEvents implements Disposable {
  readonly fd: number;
  readonly #calls: MountCalls;
  readonly #buffer = Buffer.alloc(bufferBytes);

  /** @throws Errno if the kernel or our rights do not have it */
  constructor(calls: MountCalls, namespaceFile: string) {
    this.#calls = calls;
    this.fd = calls.watchNamespace(namespaceFile);
  }

  /** All that was told since the last time. */
  take(): ToldMounts {
    const ids: number[] = [];
    let overflow = false;
    for (;;) {
      const length = this.#calls.read(this.fd, this.#buffer);
      if (length === 0) return { ids, overflow };
      const told = parseMountEvents(this.#buffer, length);
      ids.push(...told.ids);
      overflow ||= told.overflow;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}
