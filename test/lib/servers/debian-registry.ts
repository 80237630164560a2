import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { locateUnpacked } from "../../../hack/lib/tools/unpacked.ts";
import { until } from "../../../hack/lib/until.ts";
import type { SelfSigned } from "../../../src/http/self-signed.ts";
import type { Described } from "./contract-registry.ts";
import { freePort } from "./free-port.ts";

/** Whom a registry lets in: users of a file (htpasswd), or who has a token of a service that it trusts. */
export type LetsIn =
  | { readonly htpasswd: string }
  | { readonly token: { readonly realm: string; readonly root: string } };

const oci = "application/vnd.oci.image";

/** Debian's docker-registry (distribution, 2.8) on loopback, with its files in a directory that several may share. */
export class DebianRegistry implements Disposable {
  readonly port: number;
  readonly #process: ChildProcess;

  /**
   * Skips the test, by name, where there is none to be had.
   * @param path directory of its own
   * @param certificate it speaks TLS with that
   */
  static async start(
    context: Mocha.Context,
    path: string,
    { certificate, letsIn }: { readonly certificate?: SelfSigned; readonly letsIn?: LetsIn } = {},
  ): Promise<DebianRegistry> {
    const options = { env: process.env, report: (line: string) => console.log(line) };
    const program = "usr/bin/docker-registry";
    const unpacked = await locateUnpacked(
      { name: "docker-registry", packages: ["docker-registry"], has: program },
      options,
    );
    if (typeof unpacked !== "string") skipBecause(context, unpacked.missing);
    const port = await freePort();
    mkdirSync(`${path}/blobs`, { recursive: true });
    const file = (name: string, content: string) => {
      writeFileSync(`${path}/${port}-${name}`, content);
      return `${path}/${port}-${name}`;
    };
    const http = {
      addr: `127.0.0.1:${port}`,
      ...(certificate && {
        tls: { certificate: file("cert.pem", certificate.cert), key: file("key.pem", certificate.key) },
      }),
    };
    const auth =
      letsIn === undefined
        ? undefined
        : "htpasswd" in letsIn
          ? { htpasswd: { realm: "registry", path: file("users", letsIn.htpasswd) } }
          : {
              token: {
                realm: letsIn.token.realm,
                service: "registry",
                issuer: "tokens",
                rootcertbundle: file("root.pem", letsIn.token.root),
              },
            };
    const config = {
      version: 0.1,
      log: { level: "warn" },
      storage: { filesystem: { rootdirectory: `${path}/blobs` } },
      http,
      auth,
    };
    const args = ["serve", file("config.yml", JSON.stringify(config))]; // JSON is YAML
    const child = spawn(`${unpacked}/${program}`, args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-2000);
    });
    const registry = new DebianRegistry(port, child);
    await until("the registry to answer", 20_000, async () => {
      if (child.exitCode !== null) throw new Error(`docker-registry ended: ${said}`);
      return registry.#answers();
    });
    return registry;
  }

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.#process = child;
  }

  reference({ digest }: Pick<Described, "digest">): string {
    return `127.0.0.1:${this.port}/team/model@${digest}`;
  }

  /** What it has not, by the API of the distribution specification; only of one that lets everybody in without TLS. */
  async push(bytes: Buffer, mediaType: string): Promise<Described> {
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const api = `http://127.0.0.1:${this.port}/v2/team/model`;
    if (mediaType.includes("manifest") || mediaType.includes("index")) {
      const headers = { "content-type": mediaType };
      await done(await fetch(`${api}/manifests/${digest}`, { method: "PUT", headers, body: new Uint8Array(bytes) }));
    } else {
      const begun = await done(await fetch(`${api}/blobs/uploads/`, { method: "POST" }));
      const at = new URL(begun.headers.get("location") ?? "", api);
      at.searchParams.set("digest", digest);
      await done(await fetch(at, { method: "PUT", body: new Uint8Array(bytes) }));
    }
    return { mediaType, digest, size: bytes.length };
  }

  /** @param layer gzipped */
  async pushImage(layer: Buffer): Promise<Described> {
    const config = await this.push(Buffer.from("{}"), `${oci}.config.v1+json`);
    const layers = [await this.push(layer, `${oci}.layer.v1.tar+gzip`)];
    const mediaType = `${oci}.manifest.v1+json`;
    return this.push(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers })), mediaType);
  }

  async pushIndex(...images: readonly (Described & { readonly architecture: string })[]): Promise<Described> {
    const mediaType = `${oci}.index.v1+json`;
    const manifests = images.map(({ architecture, ...of }) => ({ ...of, platform: { os: "linux", architecture } }));
    return this.push(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests })), mediaType);
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
  }

  /** Of one with TLS the answer is that it wants it. */
  #answers(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.port}/v2/`).then(
      () => true,
      () => false,
    );
  }
}

async function done(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`the registry answers ${response.status}: ${await response.text()}`);
}
