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
import { cases } from "./cases.ts";

const run = promisify(execFile);

interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly [name: string]: string };
}

const { spec } = load(readFileSync(join(root, "config/components/monitoring/rules.yaml"), "utf8")) as {
  spec: { groups: readonly { rules: readonly Alert[] }[] };
};
const alerts = spec.groups.flatMap(({ rules }) => rules);
const names = alerts.map(({ alert }) => alert);

describe("alerts", () => {
  it("have a case and a runbook entry each, and what is said of them is all said of one of them", () => {
    const runbook = readFileSync(join(root, "docs/alerts.md"), "utf8");
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
