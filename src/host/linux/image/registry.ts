import { listed } from "../../../api/values/listed.ts";
import { VolumeError } from "../../../errors.ts";
import { allOf, type Blob, type BlobSource, largestManifest, VerifiedBlob, verified } from "./blob-source.ts";
import { readChallenges } from "./challenges.ts";
import { type Answer, ask, BrokenConnection, type RefusalOf, tooSlow, unreachable } from "./connection.ts";
import { objectOf, parsed } from "./manifest.ts";
import { isOwnAddress } from "./own-addresses.ts";
import { type ImageReference, isLoopback, maySendTo } from "./reference.ts";

const largestToken = 64 * 1024;
const mostRedirections = 5;
/** So many connections one after the other that break before a byte has come, and it is given up for this time. */
const mostFruitless = 10;

/** What is asked for, by its path in the repository. */
interface Wanted {
  readonly path: string;
  readonly accept: string;
  readonly digest: string;
  /** Bytes that it has at most. */
  readonly most: number;
}

/**
 * An OCI registry (distribution-spec). It gets the credentials if it requires them; if it refers to a token server, a
 * token is requested there, with the credentials or anonymously, whenever the registry requires a new one. After a
 * broken connection, the missing rest of a blob is requested. Nothing is trusted but by its digest.
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
    const wanted = { path: `manifests/${digest}`, accept: types.join(", "), digest, most: largestManifest };
    return allOf(verified(this.#fetch(wanted), digest));
  }

  async blob(digest: string, size: number): Promise<Blob> {
    return new VerifiedBlob(this.#fetch({ path: `blobs/${digest}`, accept: "*/*", digest, most: size }, size), digest);
  }

  /** All bytes, on as many connections as it takes. @param size that it has, if that is known */
  async *#fetch(wanted: Wanted, size = 0): AsyncGenerator<Buffer> {
    const slow = tooSlow(this.#image.registry);
    let bytes = 0;
    for (let fruitless = 0; ; fruitless++) {
      try {
        const answer = await this.#get(wanted, bytes);
        if (answer === undefined) return;
        for await (const chunk of bodyFrom(answer, bytes)) {
          fruitless = 0;
          bytes += chunk.length;
          refuseMore(bytes, wanted.most, wanted.digest, "ContentRefused");
          slow(chunk.length);
          yield chunk;
        }
        if (answer.hasEnd || bytes >= size) return;
        throw new BrokenConnection(answer.url.host, new Error(`it ends after ${bytes} of ${size} bytes`));
      } catch (error) {
        if (!(error instanceof BrokenConnection)) throw error;
        if (fruitless >= mostFruitless) throw unreachable(error);
      }
    }
  }

  /** @param from the first byte that is missing. @returns undefined if the registry has no more than those before */
  async #get(wanted: Wanted, from: number): Promise<Answer | undefined> {
    const { address, repository } = this.#image;
    const url = new URL(`${address}/v2/${repository}/${wanted.path}`);
    const headers = {
      accept: wanted.accept,
      "accept-encoding": "identity",
      ...(from > 0 && { range: `bytes=${from}-` }),
    };
    let answer = await this.#follow(url, headers, this.#authorization);
    // The registry alone says which token service gets the credentials: where it sends us may be somebody else's.
    if (answer.status === 401 && answer.url.host === url.host) {
      answer.leave();
      this.#authorization = await this.#authorizationFor(answer.header("www-authenticate") ?? "");
      answer = await this.#follow(url, headers, this.#authorization);
    }
    if (answer.status === 200 || (answer.status === 206 && from > 0)) return answer;
    answer.leave();
    if (answer.status === 416 && from > 0) return undefined;
    if (answer.url.host === url.host || !isOfCredentials(answer.status)) throw this.#meant(answer.status, wanted.path);
    const { status, url: at } = answer;
    throw refused(
      `${this.#image.registry} sends to ${at.host}, which answers ${status}. No credentials are sent there: name a mirror`,
    );
  }

  /** Blobs are often elsewhere, where the authorization is not for. */
  async #follow(url: URL, headers: { readonly [name: string]: string }, authorization?: string): Promise<Answer> {
    const { registry } = this.#image;
    let at = url;
    for (let followed = 0; followed <= mostRedirections; followed++) {
      const forOwn = at.host === url.host && authorization !== undefined && { authorization };
      const answer = await ask(at, { ...headers, ...forOwn }, this.#refusalAt(at));
      const location = answer.header("location");
      if (answer.status < 300 || answer.status > 399 || location === undefined) return answer;
      answer.leave();
      const next = URL.parse(location, at.href);
      if (next === null)
        throw refused(`${registry} sends elsewhere, to what is no address: nothing is fetched from there`);
      at = next;
      if (!maySendTo(registry, at)) break;
    }
    throw refused(
      `${registry} sends elsewhere, again and again, without TLS or to the node itself: nothing is fetched from there`,
    );
  }

  /** The registry itself may be anywhere: a set names it. Where it sends us must not be the node, by whatever name. */
  #refusalAt({ host }: URL): RefusalOf {
    const { registry, address: own } = this.#image;
    if (isLoopback(registry) || host === new URL(own).host) return () => undefined;
    return (address) => {
      if (!isOwnAddress(address)) return undefined;
      return refused(`${registry} sends to ${host}, which is the node itself (${address}): no request is sent there`);
    };
  }

  /** What the registry wants to be told: the credentials themselves, or a token. */
  async #authorizationFor(header: string): Promise<string> {
    if (this.#credentials?.startsWith("Bearer ") === true) return this.#credentials;
    const challenges = readChallenges(header);
    const bearer = challenges.find(({ scheme, parameters }) => scheme === "bearer" && parameters.has("realm"));
    if (bearer !== undefined) return this.#token(bearer.parameters);
    const schemes = challenges.map(({ scheme }) => scheme);
    if (schemes.includes("basic") && this.#credentials !== undefined) return this.#credentials;
    if (schemes.length === 0 || schemes.includes("basic")) throw this.#meant(401, "manifests");
    const words = `${this.#image.registry} asks for ${listed(
      schemes.map((scheme) => scheme.slice(0, 32)),
      4,
    )}`;
    throw refused(`${words}, and the agent has only basic, and bearer with a realm: name a mirror`);
  }

  /** A token from where the registry says that there are some. */
  async #token(parameters: ReadonlyMap<string, string>): Promise<string> {
    const { registry, repository } = this.#image;
    const realm = URL.parse(parameters.get("realm") ?? "");
    if (realm === null) throw refused(`${registry} sends for a token to what is no address. Name a mirror`);
    if (!maySendTo(registry, realm)) {
      throw refused(
        `${registry} redirects for a token without TLS or to the node itself: no request is sent there. Name a mirror`,
      );
    }
    const service = parameters.get("service");
    if (service !== undefined) realm.searchParams.set("service", service);
    realm.searchParams.set("scope", parameters.get("scope") || `repository:${repository}:pull`);
    const answer = await this.#follow(realm, { accept: "application/json" }, this.#credentials);
    if (answer.status !== 200) answer.leave();
    if (isTransient(answer.status)) throw away(`${realm.host} answers ${answer.status} for a token of ${registry}`);
    const { token: named, access_token: other } = answer.status === 200 ? await this.#tokenIn(answer) : {};
    const token = named ?? other;
    if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
    throw refused(`${registry} gives no token (${realm.host} answers ${answer.status}): ${this.#remedy}`);
  }

  async #tokenIn(answer: Answer): Promise<{ readonly [name: string]: unknown }> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of answer.body()) {
      bytes += piece.length;
      refuseMore(bytes, largestToken, `the token of ${this.#image.registry}`, "RepositoryRefused");
      pieces.push(piece);
    }
    return objectOf(parsed(Buffer.concat(pieces)));
  }

  #meant(status: number, path: string): VolumeError {
    const { registry, repository, digest } = this.#image;
    const said = `${registry} answers ${status} for ${repository}`;
    if (status === 404) {
      const message = `${said}: it has no ${path.startsWith("blobs") ? "such layer" : digest} that it gives out. Push it there, or name another`;
      return new VolumeError("RevisionNotFound", "final", message);
    }
    if (isTransient(status)) return away(said);
    return refused(
      `${said}: ${isOfCredentials(status) ? this.#remedy : "correct the reference, or name a mirror that answers"}`,
    );
  }

  get #remedy(): string {
    return this.#credentials === undefined
      ? "name a Secret with credentials in secretRef, or a mirror that anybody may read"
      : "correct the credentials in the Secret, or let them read this repository";
  }
}

/** The bytes of a body from this one on, whether the server sends only these or all. */
async function* bodyFrom(answer: Answer, from: number): AsyncGenerator<Buffer> {
  const [, start = "0"] = /^bytes ([0-9]+)-/.exec(answer.header("content-range") ?? "") ?? [];
  let at = answer.status === 206 ? Number(start) : 0;
  if (at > from)
    throw new BrokenConnection(answer.url.host, new Error(`it sends from byte ${at} on, not from ${from}`));
  for await (const chunk of answer.body()) {
    const missing = chunk.subarray(Math.max(0, from - at));
    at += chunk.length;
    if (missing.length > 0) yield missing;
  }
}

function refuseMore(bytes: number, most: number, what: string, reason: "ContentRefused" | "RepositoryRefused"): void {
  if (bytes <= most) return;
  throw new VolumeError(reason, "final", `${what} is more than the ${most} bytes that it may have`);
}

function isOfCredentials(status: number): boolean {
  return status === 401 || status === 403;
}

function isTransient(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

function away(message: string): VolumeError {
  return new VolumeError("ServerUnreachable", "transient", message);
}

function refused(message: string): VolumeError {
  return new VolumeError("RepositoryRefused", "final", message);
}
