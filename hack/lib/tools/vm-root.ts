import { homedir } from "node:os";
import { join } from "node:path";

/** Where hack/vm/vm.sh keeps the packages of its guest, unpacked, once it was set up. */
export function vmRoot(env: NodeJS.ProcessEnv): string {
  const cache = env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(env["NODE_VOLUME_VM_STATE"] || join(cache, "node-volume-vm"), "default/root");
}
