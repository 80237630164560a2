import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync, zstdCompressSync } from "node:zlib";

/** A blob, as manifests name it. */
export interface Described {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Stands for a registry: what the distribution specification of OCI says of reading manifests and blobs, over HTTP,
 * with a token for anybody, blobs elsewhere as the large ones have it, and what is left of a blob. It is no registry:
 * nothing can be pushed or listed.
 */
export class ContractRegistry implements Disposable {
  readonly #server: Server;
  readonly #blobs = new Map<string, { readonly bytes: Buffer; readonly type: string }>();
  readonly requests: string[] = [];
  /** What has to be in the request but for that of a token; undefined: nothing. */
  token: string | undefined;
  /** Whether blobs are asked for elsewhere. */
  redirects = false;
  /** Whether a blob is given from a byte on. */
  ranges = true;
  /** After how many bytes of a body its connection breaks; undefined: never. */
  breaks: (path: string, bytes: number) => number | undefined = () => undefined;
  /** Answers a request itself if it returns true. */
  answers: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  reference({ digest }: Pick<Described, "digest">): string {
    return `${this.host}/team/model:v1@${digest}`;
  }

  put(bytes: Buffer, mediaType: string): Described {
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    this.#blobs.set(digest, { bytes, type: mediaType });
    return { mediaType, digest, size: bytes.length };
  }

  /** What is sent for a digest from now on, whatever that says. */
  replace({ digest }: Described, bytes: Buffer): void {
    this.#blobs.set(digest, { bytes, type: this.#blobs.get(digest)?.type ?? "" });
  }

  layer(tar: Buffer, compression: "" | "+gzip" | "+zstd" = "+gzip"): Described {
    const bytes = compression === "" ? tar : compression === "+gzip" ? gzipSync(tar) : zstdCompressSync(tar);
    return this.put(bytes, `application/vnd.oci.image.layer.v1.tar${compression}`);
  }

  image(...layers: readonly Described[]): Described {
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    return this.put(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, layers })), mediaType);
  }

  index(...images: readonly (Described & { readonly architecture: string })[]): Described {
    const mediaType = "application/vnd.oci.image.index.v1+json";
    const manifests = images.map(({ architecture, ...of }) => ({ ...of, platform: { os: "linux", architecture } }));
    return this.put(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests })), mediaType);
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", `http://${this.host}`);
    this.requests.push(url.pathname);
    if (this.answers(request, response)) return;
    if (url.pathname === "/token") {
      response.end(JSON.stringify({ token: url.searchParams.get("scope") === "pull" ? this.token : "none" }));
      return;
    }
    const elsewhere = url.pathname.startsWith("/elsewhere/");
    if (this.token !== undefined && !elsewhere && request.headers.authorization !== `Bearer ${this.token}`) {
      const challenge = `Bearer realm="http://${this.host}/token",service="contract",scope="pull"`;
      response.writeHead(401, { "WWW-Authenticate": challenge }).end();
      return;
    }
    const digest = url.pathname.split("/").at(-1) ?? "";
    const blob = this.#blobs.get(digest);
    if (blob === undefined) response.writeHead(404).end("{}");
    else if (this.redirects && url.pathname.includes("/blobs/")) {
      response
        .writeHead(307, { Location: `http://localhost:${new URL(`http://${this.host}`).port}/elsewhere/${digest}` })
        .end();
    } else this.#send(request, response, blob);
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    blob: { readonly bytes: Buffer; readonly type: string },
  ): void {
    const [, from] = /^bytes=([0-9]+)-$/.exec(request.headers.range ?? "") ?? [];
    const isPart = this.ranges && from !== undefined;
    const bytes = isPart ? blob.bytes.subarray(Number(from)) : blob.bytes;
    response.setHeader("Content-Type", blob.type);
    response.setHeader("Content-Length", bytes.length);
    if (isPart) response.setHeader("Content-Range", `bytes ${from}-${blob.bytes.length - 1}/${blob.bytes.length}`);
    response.writeHead(isPart ? (bytes.length === 0 ? 416 : 206) : 200);
    const end = this.breaks(request.url ?? "", bytes.length);
    if (end === undefined || end >= bytes.length) response.end(bytes);
    else response.write(bytes.subarray(0, end), () => response.destroy());
  }
}

/** An entry of an archive, as it is written whether it makes sense or not. */
export interface RawTarEntry {
  readonly name: string;
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly target?: string;
  readonly mode?: number;
  readonly uid?: number;
  /** Changes the header before its checksum is made. */
  readonly change?: (header: Buffer) => void;
}

export function tarOf(...entries: readonly RawTarEntry[]): Buffer {
  return Buffer.concat([...entries.map(entryOf), Buffer.alloc(1024)]);
}

/** One entry, without the end of an archive. */
export function entryOf({
  name,
  type = "0",
  content = "",
  target = "",
  mode = 0o644,
  uid = 0,
  change,
}: RawTarEntry): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  header.write(`${uid.toString(8).padStart(7, "0")}\0`, 108);
  header.write(`${uid.toString(8).padStart(7, "0")}\0`, 116);
  header.write(`${bytes.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000001000\0", 136);
  header.write(type, 156);
  header.write(target, 157);
  header.write("ustar\x0000", 257);
  change?.(header);
  header.write("        ", 148);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

type PaxRecord = readonly [key: string, value: string | Buffer];
type PaxRecords = { readonly [key: string]: string | Buffer } | readonly PaxRecord[];

/** The header of pax that says so of the entry after it. */
export function paxOf(records: PaxRecords): RawTarEntry {
  const pairs = Array.isArray(records) ? (records as readonly PaxRecord[]) : Object.entries(records);
  const content = pairs.map(([key, value]) => {
    const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from("\n")]);
    const length = [1, 2, 3, 4, 5, 6]
      .map((digits) => rest.length + digits)
      .find((all) => `${all}`.length + rest.length === all);
    return Buffer.concat([Buffer.from(`${length}`), rest]); // a length counts itself
  });
  return { name: "PaxHeaders/x", type: "x", content: Buffer.concat(content) };
}
