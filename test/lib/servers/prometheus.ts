import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump, load, loadAll } from "js-yaml";
import { type RunningProcess, startProcess, tailOf } from "../../../hack/lib/process.ts";
import { root } from "../../../hack/lib/root.ts";
import { locatePrometheus } from "../../../hack/lib/tools/prometheus.ts";
import { until } from "../../../hack/lib/until.ts";
import { messageOf } from "../../../src/errors.ts";
import { freePort } from "./free-port.ts";

interface Target {
  /** host:port of metrics. */
  readonly address: string;
  /** Of what is scraped there, as the PodMonitor gives them. */
  readonly labels: { readonly job: string; readonly [name: string]: string };
}

interface Alert {
  readonly state: "pending" | "firing";
  readonly labels: { readonly [name: string]: string };
}

const textOf = (name: string) => readFileSync(join(root, "config/components/monitoring", name), "utf8");

interface PodMonitor {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly podMetricsEndpoints: readonly [{ readonly honorLabels?: boolean; readonly metricRelabelings?: object[] }];
  };
}

/** What the PodMonitor of a job says of the series that are scraped, in the words of a Prometheus without operator. */
export function scrapeOf(job: string): {
  readonly honor_labels?: boolean;
  readonly metric_relabel_configs?: unknown[];
} {
  const monitors = loadAll(textOf("monitors.yaml")) as PodMonitor[];
  const { honorLabels, metricRelabelings } =
    monitors.find(({ metadata }) => metadata.name === job)?.spec.podMetricsEndpoints[0] ?? {};
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const relabel = metricRelabelings?.map((one) =>
    Object.fromEntries(Object.entries(one).map(([name, value]) => [snakeCase(name), value as unknown])),
  );
  return {
    ...(honorLabels !== undefined && { honor_labels: honorLabels }),
    ...(relabel && { metric_relabel_configs: relabel }),
  };
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
   * Resolves when it has scraped them all.
   * @param address of an agent's metrics, host:port
   * @param labels of what is scraped there, as the PodMonitor gives them
   */
  static async start(
    address: string,
    labels: Target["labels"],
    ...more: readonly Target[]
  ): Promise<Prometheus | { readonly missing: string }> {
    const command = await locatePrometheus("prometheus", { env: process.env, report: (line) => console.log(line) });
    if (typeof command !== "string") return command;
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-prometheus-"));
    const rules = load(textOf("rules.yaml")) as { spec: object };
    writeFileSync(join(directory, "rules.yaml"), dump(rules.spec));
    const targets = [{ address, labels }, ...more];
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: ["rules.yaml"],
      scrape_configs: targets.map(({ address: at, labels: of }, n) => ({
        ...{ job_name: `${of.job}-${n}`, static_configs: [{ targets: [at], labels: of }] },
        ...scrapeOf(of.job),
      })),
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
      prometheus.value("sum(up)").then(
        (up) => up === targets.length,
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
    const [first] = await this.values(query);
    return first?.value;
  }

  /** Of an expression, each result with its labels. Rejects if it is none. */
  async values(query: string): Promise<{ readonly metric: { readonly [label: string]: string }; value: number }[]> {
    const { result } = await this.#get<{ result: { metric: { [label: string]: string }; value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(query)}`,
    );
    return result.map(({ metric, value: [, text] }) => ({ metric, value: Number(text) }));
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
