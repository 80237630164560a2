import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump, load } from "js-yaml";
import { type RunningProcess, startProcess, tailOf } from "../../hack/lib/process.ts";
import { root } from "../../hack/lib/root.ts";
import { locatePrometheus } from "../../hack/lib/tools/prometheus.ts";
import { until } from "../../hack/lib/until.ts";
import { messageOf } from "../../src/errors.ts";
import { freePort } from "./free-port.ts";

interface Alert {
  readonly state: "pending" | "firing";
  readonly labels: { readonly [name: string]: string };
}

/** A Prometheus with the alerts of config/components/monitoring as they are, which looks each second. */
export class Prometheus implements AsyncDisposable {
  readonly #process: RunningProcess;
  readonly #address: string;

  private constructor(process: RunningProcess, address: string) {
    this.#process = process;
    this.#address = address;
  }

  /**
   * @param address of an agent's metrics, host:port
   * @param labels of what is scraped there, as the PodMonitor gives them
   */
  static async start(
    address: string,
    labels: { readonly job: string; readonly node: string },
  ): Promise<Prometheus | { readonly missing: string }> {
    const command = await locatePrometheus("prometheus", { env: process.env, report: (line) => console.log(line) });
    if (typeof command !== "string") return command;
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-prometheus-"));
    const rules = load(readFileSync(join(root, "config/components/monitoring/rules.yaml"), "utf8")) as { spec: object };
    writeFileSync(join(directory, "rules.yaml"), dump(rules.spec));
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: ["rules.yaml"],
      scrape_configs: [{ job_name: labels.job, static_configs: [{ targets: [address], labels }] }],
    };
    writeFileSync(join(directory, "prometheus.yaml"), dump(config));
    const listen = `127.0.0.1:${await freePort()}`;
    const args = [
      `--config.file=${join(directory, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(directory, "series")}`,
      `--web.listen-address=${listen}`,
    ];
    const logFile = join(directory, "prometheus.log");
    const running = startProcess({ name: "prometheus", command, args, logFile });
    const prometheus = new Prometheus(running, `http://${listen}`);
    const looks = () =>
      prometheus.value(`up{job="${labels.job}"}`).then(
        (up) => up === 1,
        () => false, // it does not listen yet
      );
    try {
      await until("Prometheus to have scraped", 60_000, looks);
    } catch (error) {
      await prometheus[Symbol.asyncDispose]();
      throw new Error([messageOf(error), ...tailOf(logFile)].join("\n"));
    }
    return prometheus;
  }

  /** Of an expression with one result; undefined if it has none. */
  async value(query: string): Promise<number | undefined> {
    const { result } = await this.#get<{ result: { value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(query)}`,
    );
    return result[0] && Number(result[0].value[1]);
  }

  /** Names of the alerts that fire. */
  async firing(): Promise<string[]> {
    const { alerts } = await this.#get<{ alerts: Alert[] }>("alerts");
    const firing = alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels["alertname"] ?? "");
    return [...new Set(firing)].sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop(5_000);
  }

  async #get<Data>(path: string): Promise<Data> {
    const answer = await fetch(`${this.#address}/api/v1/${path}`);
    if (!answer.ok) throw new Error(`Prometheus: ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Data }).data;
  }
}
