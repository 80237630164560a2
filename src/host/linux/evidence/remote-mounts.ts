import { isLocal } from "../../mount-table/may-block.ts";
import { NamespacesUnknown, PinnedUnknown } from "../../ports/evidence.ts";
import { loadMountCalls } from "../syscall/mount-calls.ts";
import { eachMountNamespace, type MountNamespace } from "./mount-namespaces.ts";

/** Mounts, in any mount namespace of the node, of file systems that may hang. */
export interface RemoteMounts {
  /** Mount ids, which no two mounts of the node share. */
  readonly ids: ReadonlySet<number>;
  /** `major:minor` of the file systems. */
  readonly devices: ReadonlySet<string>;
}

/**
 * As remoteMounts, without what only processes have mounted that cannot be read. For the proof before a write or a
 * mount, which asks apart whether such a process may have the device open: a volume is set up although a process of the
 * node can never be read.
 */
export function remoteMountsSeen(each: EachNamespace = eachOfNode): Promise<RemoteMounts> {
  return collected(each, NamespacesUnknown);
}

/** @throws VolumeError StillReferenced if a mount table cannot be read, but for one that no process is in */
export function remoteMounts(each: EachNamespace = eachOfNode): Promise<RemoteMounts> {
  return collected(each, PinnedUnknown);
}

type EachNamespace = (visit: (namespace: Pick<MountNamespace, "scan">) => Promise<boolean>) => Promise<void>;

const eachOfNode: EachNamespace = (visit) => eachMountNamespace(loadMountCalls(), visit);

/** @param passedOver what is collected all the same if this is thrown */
async function collected(each: EachNamespace, passedOver: typeof NamespacesUnknown | typeof PinnedUnknown) {
  const ids = new Set<number>();
  const devices = new Set<string>();
  await each(({ scan }) =>
    scan({
      wanted: () => true,
      found: ({ id, device, fsType }) => {
        if (!isLocal(fsType)) {
          ids.add(id);
          devices.add(device);
        }
        return false;
      },
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof passedOver)) throw error;
  });
  return { ids, devices };
}
