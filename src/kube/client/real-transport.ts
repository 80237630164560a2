import { readFile } from "node:fs/promises";
import type { System } from "../../ports.ts";
import type { HttpTransport } from "./http-transport.ts";
import { createHttpTransport } from "./http-transport.ts";
import { createFileTokenSource } from "./token-source.ts";

/** Where the API server is and how to prove to each other who is who. */
export interface ApiServerAccess {
  /** https://HOST:PORT; or unix://PATH, the socket of a proxy that does so: then there are no files. */
  readonly server: string;
  readonly caFile: string;
  readonly tokenFile: string;
}

/** The Transport of a real process. Rejects if the CA file cannot be read; a token that is missing is waited for. */
export async function createRealTransport(deps: {
  readonly system: System;
  readonly access: ApiServerAccess;
  readonly userAgent: string;
}): Promise<HttpTransport> {
  const { system, access, userAgent } = deps;
  if (access.server.startsWith(unix)) return transportThrough(access.server.slice(unix.length), deps);
  if (!access.server.startsWith("https://")) {
    throw new Error(
      `the API server's address must start with https:// or unix://, not ${access.server}: the token is a secret`,
    );
  }
  const text = (path: string) => readFile(path, "utf8");
  const readCA = () => text(access.caFile);
  const ca = await readCA();
  const token = createFileTokenSource({ readFile: text, path: access.tokenFile, clock: system.clock });
  return createHttpTransport({ system, server: access.server, ca, readCA, token, userAgent });
}

const unix = "unix://";

/**
 * By way of a proxy that has the token. It need not be there yet: who asks before it is waits as for a server that is
 * away.
 */
function transportThrough(
  socketPath: string,
  { system, userAgent }: { readonly system: System; readonly userAgent: string },
): HttpTransport {
  const token = { current: () => Promise.resolve(""), refused() {} };
  const credentials = () => Promise.resolve({ socketPath });
  return createHttpTransport({ system, server: "http://api-proxy", token, credentials, userAgent });
}
