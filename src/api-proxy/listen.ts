import { chmodSync, mkdirSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { dirname } from "node:path";

/**
 * Listens on a unix socket for this user, its group and root. The modes of the socket and its directory decide who may
 * connect, because a process cannot identify its peer. The group is for an agent that is root without CAP_DAC_OVERRIDE.
 * The socket of an earlier proxy is removed. Rejects if that fails.
 */
export async function listen(server: Server, path: string): Promise<void> {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  chmodSync(directory, 0o750);
  rmSync(path, { force: true });
  const before = process.umask(0o117);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } finally {
    process.umask(before);
  }
}
