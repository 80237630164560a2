import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { locatePrometheus } from "../../../hack/lib/tools/prometheus.ts";
import { familiesOf, seriesOf, servedByRole } from "./served.ts";

describe("names of metrics", function () {
  this.timeout(150_000); // of a download, once
  let promtool = "";
  let served: Awaited<ReturnType<typeof servedByRole>>;
  before(async function () {
    const found = await locatePrometheus("promtool", { env: process.env, report: () => undefined });
    if (typeof found !== "string") skipBecause(this, found.missing);
    promtool = found;
    served = await servedByRole();
  });

  /**
   * What promlint does not like. kubelet's names and prom-client's are all right, but for three of the latter that are
   * left out (health-server.ts): there is no exception.
   */
  function lint(text: string): string[] {
    const { status, stdout, stderr, error } = spawnSync(promtool, ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    if (error !== undefined) throw error;
    const found = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
    expect(status === 0, `${found.join("\n")} (${status})`).to.equal(found.length === 0);
    return found;
  }

  for (const role of ["controller", "agent", "api-proxy"] as const) {
    it(`of the ${role} are by Prometheus' rules, each with a time series or not yet`, async () => {
      const families = familiesOf(served[role]);
      const text = families.map(({ name, help, type, labelNames, ...rest }) => {
        const labels = labelNames.filter((label) => label !== "le").map((label) => `${label}="x"`);
        const series = seriesOf({ name, help, type, labelNames, ...rest }).map((one) => {
          const all = one.endsWith("_bucket") ? [...labels, 'le="+Inf"'] : labels;
          return `${one}{${all.join(",")}} 1`;
        });
        return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...series, ""].join("\n");
      });
      expect(lint(text.join(""))).to.deep.equal([]);
      expect(lint(await served[role].metrics()), "as it is served").to.deep.equal([]);
    });
  }

  it("that are not by those rules are found", () => {
    const text = "# HELP nodevolume_since_ms Time.\n# TYPE nodevolume_since_ms gauge\nnodevolume_since_ms 1\n";
    expect(lint(text).join("\n")).to.include("nodevolume_since_ms");
  });

  it("belong to one role each, but for those of every process: an api-proxy serves the agent's, too", () => {
    const [ours, theirs] = [served["api-proxy"], served.agent].map((registry) =>
      familiesOf(registry).map(({ name }) => name),
    );
    expect(ours?.filter((name) => theirs?.includes(name))).to.deep.equal([]);
  });
});
