import { readFile } from "node:fs/promises";
import { type RequestOptions, request } from "node:https";
import { networkInterfaces } from "node:os";
import { messageOf, VolumeError } from "../../../errors.ts";
import type { FlockerPlace, FlockerService } from "../../ports/flocker.ts";

/** Milliseconds that an answer may take. */
const deadlineMs = 10_000;
/** Of all datasets of a cluster. */
const largestAnswer = 4 * 1024 * 1024;
/** Beneath the node's root (kubelet: pkg/volume/flocker). */
const certificates = "etc/flocker";

/** The control service over TLS, by the certificates that the node has for it. */
export class LinuxFlocker implements FlockerService {
  readonly name: string;
  readonly #place: FlockerPlace;
  readonly #hostRoot: string;

  constructor(place: FlockerPlace, hostRoot: string) {
    this.name = `${place.host}:${place.port}`;
    this.#place = place;
    this.#hostRoot = hostRoot;
  }

  get(path: string): Promise<unknown> {
    return this.#ask("GET", path);
  }

  post(path: string, body: object): Promise<unknown> {
    return this.#ask("POST", path, JSON.stringify(body));
  }

  addresses(): readonly string[] {
    return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
  }

  async #ask(method: "GET" | "POST", path: string, body?: string): Promise<unknown> {
    const [ca, cert, key] = await Promise.all(["cluster.crt", "apiuser.crt", "apiuser.key"].map((n) => this.#file(n)));
    const { host, port } = this.#place;
    const on = { kind: "Server", name: this.name };
    const options = {
      ...{ host, port, method, path: `/v1/${path}`, agent: false, timeout: deadlineMs, ...{ ca, cert, key } },
      headers: { "content-type": "application/json" },
    };
    const { status, text } = await answerTo(options, body).catch((error: unknown) => {
      const errorClass = method === "POST" ? "uncertain" : "transient";
      const message = `the control service of Flocker at ${this.name} cannot be reached: ${messageOf(error)}`;
      throw new VolumeError("ServerUnreachable", errorClass, message, { on, cause: error });
    });
    const what = `${method} /v1/${path} at ${this.name}`;
    if (status >= 300)
      throw new VolumeError("DriverFailed", "transient", `${what}: ${status} ${text.slice(0, 512)}`, { on });
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new VolumeError("DriverReplyInvalid", "transient", `${what}: its answer is no JSON`, { on, cause: error });
    }
  }

  async #file(name: string): Promise<string> {
    const path = `${this.#hostRoot === "/" ? "" : this.#hostRoot}/${certificates}/${name}`;
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      const message = `the certificates for the control service of Flocker cannot be read: ${messageOf(error)}. Put them into /${certificates} of the node`;
      throw new VolumeError("SetUpFailed", "transient", message, { cause: error });
    }
  }
}

function answerTo(options: RequestOptions, body: string | undefined): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        if (text.length > largestAnswer) sent.destroy(new Error(`its answer is longer than ${largestAnswer} bytes`));
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${deadlineMs / 1000} s`)));
    sent.on("error", reject);
    sent.end(body);
  });
}
