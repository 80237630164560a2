// Where CSI has its things on a pretended node: as beneath /var/lib/kubelet on a real one.
import { join } from "node:path";
import { layout, type PretendHost } from "../pretend-node/node.ts";

/** Where drivers register. */
export const registrationDir = join(layout.kubeletDir, "plugins_registry");
/** Root of our staging and publish paths. */
export const csiDir = join(layout.kubeletDir, "plugins/nodevolume.dev");

/** The agent's flags for both. */
export const agentFlags = ["--csi-dir", csiDir, "--csi-registration-dir", registrationDir] as const;

export function socketOf(driver: string): string {
  return join(layout.kubeletDir, "plugins", driver, "csi.sock");
}

export function registrationSocketOf(driver: string): string {
  return join(registrationDir, `${driver}-reg.sock`);
}

/** The same path as a process outside of the node's mount namespaces has to name it. */
export function seenFromOutside(host: PretendHost, path: string): string {
  return `/proc/${host.pid}/root${path}`;
}
