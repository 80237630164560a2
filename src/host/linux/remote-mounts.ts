import { isLocal } from "../may-hang.ts";
import { loadMountCalls } from "./mount-calls.ts";
import { eachMountNamespace } from "./mount-namespaces.ts";

/** Mounts, in any mount namespace of the node, of file systems that may hang. */
export interface RemoteMounts {
  /** Mount ids, which no two mounts of the node share. */
  readonly ids: ReadonlySet<number>;
  /** `major:minor` of the file systems. */
  readonly devices: ReadonlySet<string>;
}

/** @throws VolumeError StillReferenced if a mount table cannot be read */
export async function remoteMounts(): Promise<RemoteMounts> {
  const ids = new Set<number>();
  const devices = new Set<string>();
  await eachMountNamespace(loadMountCalls(), ({ scan }) =>
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
  );
  return { ids, devices };
}
