import { chmodSync, mkdirSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { dirname } from "node:path";

/**
 * Listens on a unix socket that is this user's, its group's and root's: who may ask is decided by the modes of the socket and its directory
 * alone, as a process cannot be told by whom it is asked. The group is for an agent that is root without the right to pass over modes. What a proxy before has left is removed. Rejects if that is not to be had.
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
