import type { ImageReference } from "../../../src/host/linux/image/reference.ts";
import { Registry } from "../../../src/host/linux/image/registry.ts";
import type { ContractRegistry } from "./contract-registry.ts";

/**
 * The client of registries, for one that is at this host. @param credentials value of the HTTP header that says who
 * asks
 */
export function registryAt(host: string, credentials?: string): Registry {
  const image: ImageReference = {
    ...{ registry: host, address: `http://${host}`, repository: "team/model" },
    digest: `sha256:${"0".repeat(64)}`,
  };
  return new Registry(image, credentials);
}

/** What it reads of a blob, or why not. */
export async function readOf(
  registry: Registry,
  { digest, size }: { readonly digest: string; readonly size: number },
): Promise<string> {
  try {
    const pieces: Buffer[] = [];
    for await (const piece of await registry.blob(digest, size)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  } catch (error) {
    const { reason, message } = error as { reason?: string; message: string };
    return `${reason}: ${message}`;
  }
}

/** The same of a blob that the server has. */
export function readText(registry: Registry, server: ContractRegistry, text: string): Promise<string> {
  return readOf(registry, server.put(Buffer.from(text), "text/plain"));
}
