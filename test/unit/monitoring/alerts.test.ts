import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { dump, load } from "js-yaml";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { root } from "../../../hack/lib/root.ts";
import { locatePrometheus } from "../../../hack/lib/tools/prometheus.ts";
import { scrapeOf } from "../../lib/servers/prometheus.ts";
import { cases } from "./cases.ts";

const run = promisify(execFile);

interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly [name: string]: string };
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly kubernetes_sd_configs: readonly object[];
  readonly honor_labels?: boolean;
  readonly metric_relabel_configs?: readonly object[];
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const { spec } = load(textOf("config/components/monitoring/rules.yaml")) as {
  spec: { groups: readonly { rules: readonly Alert[] }[] };
};
const alerts = spec.groups.flatMap(({ rules }) => rules);
const names = alerts.map(({ alert }) => alert);

describe("alerts", () => {
  it("have a case and a runbook entry each, and what is said of them is all said of one of them", () => {
    const runbook = textOf("docs/alerts.md");
    const entries = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(entries).to.deep.equal(names);
    expect(cases.map(({ alert }) => alert)).to.deep.equal(names);
    for (const { alert, annotations } of alerts) {
      expect(annotations["runbook"], alert).to.equal(`docs/alerts.md#${alert.toLowerCase()}`);
      expect(annotations, alert).to.include.keys("summary", "description");
    }
  });

  describe("by promtool", function () {
    this.timeout(150_000); // of a download, once
    let promtool = "";
    let directory = "";
    before(async function () {
      const found = await locatePrometheus("promtool", { env: process.env, report: () => undefined });
      if (typeof found !== "string") skipBecause(this, found.missing);
      promtool = found;
      directory = mkdtempSync(join(tmpdir(), "nodevolume-alerts-"));
      writeFileSync(join(directory, "rules.yaml"), dump(spec));
    });
    after(() => {
      if (directory !== "") rmSync(directory, { recursive: true });
    });

    /** promtool's words about rules that are given these series, and what ALERTS is to be then. */
    async function verdict(tests: readonly object[]): Promise<string> {
      writeFileSync(
        join(directory, "test.yaml"),
        dump({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }),
      );
      const ended = await run(promtool, ["test", "rules", "test.yaml"], { cwd: directory }).catch(
        (error: unknown) => error,
      );
      const { stdout, stderr } = ended as { stdout: string; stderr: string };
      return `${stdout}${stderr}`;
    }

    const firing = (series: object, alert: string, labels: readonly object[]) => ({
      interval: "1m",
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `ALERTS{alertname="${alert}", alertstate="firing"}`,
          eval_time: "90m",
          exp_samples: labels.map((of) => ({ labels: seriesOf(alert, of), value: 1 })),
        },
      ],
    });
    const seriesOf = (alert: string, labels: object) => {
      const { severity } = alerts.find((one) => one.alert === alert)?.labels ?? {};
      const all = Object.entries({ alertname: alert, alertstate: "firing", severity, ...labels });
      return `ALERTS{${all.map(([name, value]) => `${name}="${value}"`).join(", ")}}`;
    };

    it("are scraped without the operator by what docs/alerts.md has, as by the PodMonitors", async () => {
      const [, block = ""] = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(textOf("docs/alerts.md")) ?? [];
      const { scrape_configs } = load(block) as { scrape_configs: readonly ScrapeConfig[] };
      // Debian's promtool is built without the discovery of Kubernetes.
      const known = scrape_configs.map(({ kubernetes_sd_configs: _, ...config }) => config);
      writeFileSync(join(directory, "prometheus.yaml"), dump({ scrape_configs: known }));
      const { stdout } = await run(promtool, ["check", "config", "prometheus.yaml"], { cwd: directory });
      expect(stdout).to.include("SUCCESS");
      for (const { job_name, honor_labels, metric_relabel_configs } of scrape_configs) {
        const asScraped = JSON.parse(JSON.stringify({ honor_labels, metric_relabel_configs })) as object;
        expect(asScraped, job_name).to.deep.equal(scrapeOf(job_name));
        expect(honor_labels, `${job_name}: no node may speak for another`).to.equal(undefined);
      }
    });

    it("and what the dashboard asks for are expressions that Prometheus takes", async () => {
      const { panels } = JSON.parse(textOf("config/components/monitoring/nodevolume.json")) as Dashboard;
      const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("$node", ".*")));
      const rules = asked.map((expr, n) => ({ record: `dashboard:${n}`, expr }));
      writeFileSync(join(directory, "dashboard.yaml"), dump({ groups: [{ name: "dashboard", rules }] }));
      const { stdout } = await run(promtool, ["check", "rules", "dashboard.yaml"], { cwd: directory });
      expect(stdout).to.include(`SUCCESS: ${asked.length} rules found`);
    });

    it("are rules that Prometheus takes, with templates that it can fill in", async () => {
      const { stdout } = await run(promtool, ["check", "rules", "--lint-fatal", "rules.yaml"], { cwd: directory });
      expect(stdout).to.include(`SUCCESS: ${names.length} rules found`);
    });

    for (const { alert, fires, labels, quiet } of cases) {
      it(`${alert} is told when it is so, by those labels, and not when it is not`, async () => {
        const leads = { 'nodevolume_controller_leader{pod="leads"}': "1x90" };
        const others = alert === "NodeVolumeNoLeader" ? {} : leads;
        const tests = [firing({ ...others, ...fires }, alert, [labels]), firing({ ...others, ...quiet }, alert, [])];
        expect(await verdict(tests)).to.match(/SUCCESS/);
      });
    }
  });
});
