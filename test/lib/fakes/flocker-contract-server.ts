import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { LinuxFlocker } from "../../../src/host/linux/flocker/linux-flocker.ts";

export const datasetUUID = "7eb29674-1f6d-47da-9c5b-3cfd0fc4b2c9";
export const hereUUID = "11111111-1111-4111-8111-111111111111";
export const elsewhereUUID = "22222222-2222-4222-8222-222222222222";

/**
 * NOT Flocker, which nobody can run any more: a server that answers as its REST API did (ClusterHQ's flocker-go is what
 * kubelet spoke it with), over TLS with client certificates. It has one dataset, `data`, and moves it when the test
 * says so.
 */
export class FlockerContractServer implements Disposable {
  /** As seen by a node whose root this is. */
  readonly root: string;
  /** Where the dataset is mounted on this node. */
  readonly path: string;
  /** POST requests. */
  readonly posts: string[] = [];
  /** Where it is, and where it is to be. */
  primary = hereUUID;
  configured = hereUUID;
  readonly #server: Server;

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "nvo-flocker-"));
    const directory = join(this.root, "etc/flocker");
    this.path = join(this.root, "flocker", datasetUUID);
    mkdirSync(directory, { recursive: true });
    mkdirSync(this.path, { recursive: true });
    const files = ["-keyout", join(directory, "apiuser.key"), "-out", join(directory, "apiuser.crt")];
    const subject = ["-subj", "/CN=contract", "-addext", "subjectAltName=IP:127.0.0.1"];
    const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
    execFileSync("openssl", ["req", ...kind, ...subject, ...files], { stdio: "ignore" });
    const cert = readFileSync(join(directory, "apiuser.crt"));
    execFileSync("cp", [join(directory, "apiuser.crt"), join(directory, "cluster.crt")]);
    const tls = { key: readFileSync(join(directory, "apiuser.key")), cert, ca: cert };
    this.#server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, async (request, response) => {
      const { status, answer } = await this.#answer(request);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  }

  /** Begins to listen. @returns what a node reaches it by */
  async listen(): Promise<LinuxFlocker> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    return new LinuxFlocker({ host: "127.0.0.1", port }, this.root);
  }

  /** Mounts the dataset on this node, as Flocker's agent does. */
  mount(): void {
    execFileSync("mount", ["-t", "tmpfs", "dataset", this.path]);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  [Symbol.dispose](): void {
    this.stop();
    if (readFileSync("/proc/self/mountinfo", "utf8").includes(` ${this.path} `))
      execFileSync("umount", ["-l", this.path]);
    rmSync(this.root, { recursive: true });
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; answer: unknown }> {
    const { method, url } = request;
    const dataset = { dataset_id: datasetUUID, maximum_size: 107374182400 };
    if (method === "POST" && url === `/v1/configuration/datasets/${datasetUUID}`) {
      const body = await text(request);
      this.posts.push(body);
      this.configured = (JSON.parse(body) as { primary: string }).primary;
      return { status: 200, answer: { ...dataset, primary: this.configured } };
    }
    switch (`${method} ${url}`) {
      case "GET /v1/state/nodes":
        return {
          status: 200,
          answer: [
            { uuid: elsewhereUUID, host: "192.0.2.7" },
            { uuid: hereUUID, host: "127.0.0.1" },
          ],
        };
      case "GET /v1/configuration/datasets":
        return {
          status: 200,
          answer: [
            { dataset_id: elsewhereUUID, primary: hereUUID, deleted: true, metadata: { name: "data" } },
            { ...dataset, primary: this.configured, deleted: false, metadata: { name: "data" } },
          ],
        };
      case "GET /v1/state/datasets":
        return {
          status: 200,
          answer: [{ ...dataset, primary: this.primary, ...(this.primary === hereUUID && { path: this.path }) }],
        };
      default:
        return { status: 404, answer: { description: "The requested URL was not found on the server." } };
    }
  }
}
