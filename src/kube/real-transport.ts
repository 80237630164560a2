import { readFile } from "node:fs/promises";
import type { System } from "../ports.ts";
import type { HttpTransport } from "./http-transport.ts";
import { createHttpTransport } from "./http-transport.ts";
import { createFileTokenSource } from "./token-source.ts";

/** Where the API server is and how to prove to each other who is who. */
export interface ApiServerAccess {
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
  if (!access.server.startsWith("https://")) {
    throw new Error(`the API server's address must start with https://, not ${access.server}: the token is a secret`);
  }
  const text = (path: string) => readFile(path, "utf8");
  const readCA = () => text(access.caFile);
  const ca = await readCA();
  const token = createFileTokenSource({ readFile: text, path: access.tokenFile, clock: system.clock });
  return createHttpTransport({ system, server: access.server, ca, readCA, token, userAgent });
}
