import { join } from "node:path";
import { type RunningProcess, startProcess } from "../../../hack/lib/process.ts";
import { locateTool } from "../../../hack/lib/tools/locate.ts";
import { until } from "../../../hack/lib/until.ts";
import { freePort } from "./free-port.ts";

/** What spoils a connection, as toxiproxy names it, with its attributes. */
export interface Toxic {
  readonly type: "latency" | "bandwidth" | "slicer" | "limit_data" | "reset_peer" | "timeout";
  readonly attributes: { readonly [name: string]: number };
}

/** A proxy of toxiproxy's before one server, whose connections can be spoilt and mended. */
export class Toxiproxy implements AsyncDisposable {
  /** Where it listens, 127.0.0.1:port. */
  readonly listen: string;
  readonly #process: RunningProcess;
  readonly #api: string;

  private constructor(process: RunningProcess, api: string, listen: string) {
    this.#process = process;
    this.#api = api;
    this.listen = listen;
  }

  /** @param upstream host:port of the server */
  static async start(upstream: string, directory: string): Promise<Toxiproxy> {
    const command = await locateTool("toxiproxy-server", { env: process.env, report: (line) => console.log(line) });
    const [port, own] = [await freePort(), await freePort()];
    const args = ["-host", "127.0.0.1", "-port", `${port}`];
    const running = startProcess({ name: "toxiproxy", command, args, logFile: join(directory, "toxiproxy.log") });
    const proxy = new Toxiproxy(running, `http://127.0.0.1:${port}`, `127.0.0.1:${own}`);
    const listens = () =>
      proxy.#call("GET", "/version").then(
        () => true,
        () => false,
      );
    await until("toxiproxy to listen", 20_000, listens);
    await proxy.#call("POST", "/proxies", { name: "api", listen: proxy.listen, upstream, enabled: true });
    return proxy;
  }

  /** Spoils what goes each way, also on connections that are there. */
  async spoil({ type, attributes }: Toxic): Promise<void> {
    for (const stream of ["upstream", "downstream"])
      await this.#call("POST", "/proxies/api/toxics", { type, stream, name: `${type}-${stream}`, attributes });
  }

  /** Also where it was spoilt in part, or not at all. */
  async mend({ type }: Toxic): Promise<void> {
    for (const stream of ["upstream", "downstream"])
      await this.#call("DELETE", `/proxies/api/toxics/${type}-${stream}`, undefined, [404]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop(1_000);
  }

  async #call(method: string, path: string, body?: object, expected: readonly number[] = []): Promise<void> {
    const answer = await fetch(`${this.#api}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok && !expected.includes(answer.status))
      throw new Error(`toxiproxy: ${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
}
