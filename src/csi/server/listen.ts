import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Server, ServerCredentials } from "@grpc/grpc-js";

/** unix(7): bytes of a path that an address has room for, without the zero at its end. */
const longestAddress = 107;

/**
 * Listens on a unix socket that only root may use (0600). A rename puts it on its path in one step: a client finds
 * either the earlier socket, which a killed agent may have left, or one that answers.
 * @returns the identity of the socket file, to recognize it later
 * @throws Error if the path is too long, or the kernel refuses
 */
export async function listen(server: Server, path: string): Promise<string> {
  // With a dot: kubelet looks at no such names (behaviour 115).
  const begun = join(dirname(path), `.${basename(path)}~`);
  const bytes = Buffer.byteLength(begun);
  if (bytes > longestAddress)
    throw new Error(`${begun} has ${bytes} bytes; a socket's path has ${longestAddress} at most`);
  rmSync(begun, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${begun}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  chmodSync(begun, 0o600);
  renameSync(begun, path);
  return socketAt(path) ?? "";
}

/** What is at a path; undefined if nothing. */
export function socketAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}:${found.ctimeNs}`;
}
