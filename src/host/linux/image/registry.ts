import { printable } from "../../../api/printable.ts";
import { messageOf, VolumeError } from "../../../errors.ts";
import { allOf, type Blob, type BlobSource, largestManifest, VerifiedBlob, verified } from "./blob-source.ts";
import { objectOf, parsed } from "./manifest.ts";
import { type ImageReference, maySendTo } from "./reference.ts";

const largestToken = 64 * 1024;
const mostRedirections = 5;

/**
 * A registry (distribution-spec of OCI): it gets the credentials if it asks for them, and a token is asked for where it sends for one, with
 * them or as anybody. Nothing that comes is believed but by its digest.
 */
export class Registry implements BlobSource {
  readonly #image: ImageReference;
  /** Value of the HTTP header that says who asks. */
  readonly #credentials: string | undefined;
  #authorization: string | undefined;

  constructor(image: ImageReference, credentials?: string) {
    this.#image = image;
    this.#credentials = credentials;
  }

  async manifest(digest: string, types: readonly string[]): Promise<Buffer> {
    const response = await this.#get(`manifests/${digest}`, types.join(", "));
    return allOf(verified(bounded(response, digest, largestManifest), digest));
  }

  async blob(digest: string, size: number): Promise<Blob> {
    return new VerifiedBlob(bounded(await this.#get(`blobs/${digest}`, "*/*"), digest, size), digest);
  }

  async #get(what: string, accept: string): Promise<Response> {
    const { address, repository } = this.#image;
    const url = `${address}/v2/${repository}/${what}`;
    let response = await this.#follow(url, accept);
    if (response.status === 401 && this.#authorization === undefined) {
      await response.body?.cancel();
      this.#authorization = await this.#answerTo(response.headers.get("www-authenticate") ?? "");
      response = await this.#follow(url, accept);
    }
    if (response.status === 200) return response;
    await response.body?.cancel();
    throw this.#meant(response.status, what);
  }

  /** Blobs are often elsewhere, where the token is not for. */
  async #follow(url: string, accept: string): Promise<Response> {
    let at = new URL(url);
    for (let followed = 0; followed <= mostRedirections; followed++) {
      const own = at.host === new URL(url).host;
      const authorization = own && this.#authorization !== undefined && { authorization: this.#authorization };
      const response = await this.#ask(at, { accept, "accept-encoding": "identity", ...authorization });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      at = new URL(location, at);
      if (!maySendTo(this.#image.registry, at)) break;
    }
    const message = `${this.#image.registry} sends elsewhere, again and again, without TLS or to the node itself: nothing is fetched from there`;
    throw new VolumeError("RepositoryRefused", "final", message);
  }

  /** What the registry wants to be told: the credentials themselves, or a token. */
  async #answerTo(challenges: string): Promise<string> {
    if (this.#credentials?.startsWith("Bearer ") === true) return this.#credentials;
    const [bearer] = /\bbearer .*/i.exec(challenges) ?? [];
    if (bearer !== undefined) return this.#token(bearer);
    if (/^basic\b/i.test(challenges) && this.#credentials !== undefined) return this.#credentials;
    throw this.#meant(401, "manifests");
  }

  /** What the registry says of where tokens are, and a token from there. */
  async #token(challenge: string): Promise<string> {
    const { registry } = this.#image;
    const parameter = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(challenge)?.[1];
    const realm = URL.parse(parameter("realm") ?? "");
    if (realm === null) throw this.#meant(401, "manifests");
    if (!maySendTo(registry, realm)) {
      const message = `${registry} sends for a token without TLS or to the node itself: nothing is asked there. Name a mirror`;
      throw new VolumeError("RepositoryRefused", "final", message);
    }
    for (const name of ["service", "scope"]) {
      const value = parameter(name);
      if (value !== undefined) realm.searchParams.set(name, value);
    }
    const credentials = this.#credentials !== undefined && { authorization: this.#credentials };
    const response = await this.#ask(realm, { accept: "application/json", ...credentials });
    const answer: Buffer[] = [];
    const pieces = bounded(response, `the token of ${registry}`, largestToken, "RepositoryRefused");
    if (response.status === 200) for await (const piece of pieces) answer.push(piece);
    else await response.body?.cancel();
    const { token: named, access_token: other } = objectOf(parsed(Buffer.concat(answer)));
    const token = named ?? other;
    if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
    const message = `${registry} gives no token (${realm.host} answers ${response.status}): ${this.#remedy}`;
    throw new VolumeError("RepositoryRefused", "final", message);
  }

  async #ask(url: URL, headers: { readonly [name: string]: string }): Promise<Response> {
    try {
      return await fetch(url, { headers, redirect: "manual" });
    } catch (error) {
      throw unreachable(url.host, error);
    }
  }

  #meant(status: number, what: string): VolumeError {
    const { registry, repository, digest } = this.#image;
    const said = `${registry} answers ${status} for ${repository}`;
    if (status === 404) {
      const message = `${said}: it has no ${what.startsWith("blobs") ? "such layer" : digest} that it gives out. Push it there, or name another`;
      return new VolumeError("RevisionNotFound", "final", message);
    }
    if (status === 429 || status >= 500) return new VolumeError("ServerUnreachable", "transient", said);
    return new VolumeError("RepositoryRefused", "final", `${said}: ${this.#remedy}`);
  }

  get #remedy(): string {
    return this.#credentials === undefined
      ? "name a Secret with credentials in secretRef, or a mirror that anybody may read"
      : "correct the credentials in the Secret, or let them read this repository";
  }
}

/** The bytes of an answer, at most so many. @throws VolumeError with this reason if there are more */
async function* bounded(
  response: Response,
  what: string,
  most: number,
  reason: "ContentRefused" | "RepositoryRefused" = "ContentRefused",
): AsyncGenerator<Buffer> {
  const slow = tooSlow(new URL(response.url).host);
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > most)
        throw new VolumeError(reason, "final", `${what} is more than the ${most} bytes that it may have`);
      slow(chunk.length);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    throw error instanceof VolumeError ? error : unreachable(new URL(response.url).host, error);
  }
}

/** As git's: a server that sends less than 1,000 bytes a second for a minute would keep others from being fetched for days. */
function tooSlow(host: string): (bytes: number) => void {
  let since = performance.now();
  let bytes = 0;
  return (more) => {
    bytes += more;
    const ms = performance.now() - since;
    if (ms < 60_000) return;
    if (bytes < ms) throw new VolumeError("ServerUnreachable", "transient", `${host} sends ${bytes} bytes in a minute`);
    since = performance.now();
    bytes = 0;
  };
}

function unreachable(host: string, error: unknown): VolumeError {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
  const message = printable(`${host} does not answer: ${messageOf(error)}${cause}`).slice(0, 512);
  return new VolumeError("ServerUnreachable", "transient", message);
}
