import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PretendHost } from "../pretend-node/node.ts";

/** What a kubelet sets as it starts (pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables). */
const wanted = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
};

/**
 * Shows a kubelet the kernel's settings as it would make them: what it finds right it does not set, and the machine
 * keeps its own. They are files of ours, bound over the kernel's in the node's mount namespace.
 */
export async function coverKernelSettings(host: PretendHost, directory: string): Promise<void> {
  for (const [name, value] of Object.entries(wanted)) {
    const file = join(directory, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, `${value}\n`);
    await host.run("mount", "--bind", file, `/proc/sys/${name}`);
  }
}
