import { VolumeError } from "../../../errors.ts";

/** An image by the digest of its manifest or index. */
export interface ImageReference {
  /** As people write it. */
  readonly registry: string;
  /** Where its API is, without a slash at the end. */
  readonly address: string;
  readonly repository: string;
  readonly digest: string;
}

/**
 * PURE. The parts of `registry/repository[:tag]@sha256:…`. The digest alone counts: a tag before it is for people.
 * @throws VolumeError RepositoryRefused
 * @param secure whether a registry on the node itself is asked by TLS, too
 */
export function parseReference(reference: string, secure = false): ImageReference {
  const [, registry = "", path = "", digest = ""] =
    /^([^/]+)\/([^:@]+)(?::[^@]+)?@(sha256:[0-9a-f]{64})$/.exec(reference) ?? [];
  if (digest === "") throw new Error(`${reference} names no image by its digest`);
  const isDocker = registry === "docker.io";
  const repository = isDocker && !path.includes("/") ? `library/${path}` : path;
  const host = isDocker ? "registry-1.docker.io" : registry;
  const address = `${isLoopback(host) && !secure ? "http" : "https"}://${host}`;
  if (URL.canParse(address)) return { registry, address, repository, digest };
  const message = `${registry} is no address of a registry: correct image.reference (hosts of numbers are IPv4 addresses, ports end at 65535)`;
  throw new VolumeError("RepositoryRefused", "final", message);
}

/** A registry on the node itself, as mirrors are, has no certificate; container runtimes speak HTTP with it too. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?$/.test(host);
}

/** What leads to the machine that asks, however it is written in an address. */
const ownMachine =
  /^(localhost|.*\.localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:(7f[0-9a-f]{2}|0):[0-9a-f]+\])\.?$/;

/** PURE. Whether a registry may send us there: to the node, whose services trust it, only one on the node itself. */
export function maySendTo(registry: string, { protocol, host, hostname }: URL): boolean {
  if (isLoopback(registry)) return protocol === "https:" || (protocol === "http:" && isLoopback(host));
  return protocol === "https:" && !ownMachine.test(hostname);
}
