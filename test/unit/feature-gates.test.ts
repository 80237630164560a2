import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Registry } from "prom-client";
import { root } from "../../hack/lib/root.ts";
import { ConfigError, parseConfig } from "../../src/config.ts";
import { FeatureGateError, featureGates, type GateTable, parseFeatureGates } from "../../src/feature-gates.ts";
import { registerRoleMetrics } from "../../src/http/role-metrics.ts";

const gates = {
  Young: { stage: "Alpha", default: false, since: "0.3.0", roles: ["agent"], what: "" },
  Tried: { stage: "Beta", default: true, since: "0.2.0", roles: ["agent"], what: "" },
  Kept: { stage: "GA", default: true, since: "0.1.0", removal: "0.4.0", roles: ["agent"], what: "" },
} as const satisfies GateTable;
const parse = (text: string) => parseFeatureGates(text, gates);

describe("feature gates", () => {
  it("are as by default where nothing is said, and as is said", () => {
    expect(parse("")).to.deep.equal({ Young: false, Tried: true, Kept: true });
    expect(parse(" Young=true, Tried=false,")).to.deep.equal({ Young: true, Tried: false, Kept: true });
    expect(parse("Kept=true,Tried=false,Tried=false").Tried).to.equal(false);
  });

  const wrong: readonly [string, string][] = [
    ["Old=true", 'there is no feature "Old": known are Kept (GA, true), Tried (Beta, true), Young (Alpha, false)'],
    ["toString=true", 'there is no feature "toString"'],
    ["Tried", '"Tried" is not NAME=true or NAME=false'],
    ["Tried=yes", '"Tried=yes" is not NAME=true or NAME=false'],
    ["Kept=false", "Kept is GA since 0.1.0 and cannot be turned off, and the gate goes with 0.4.0"],
    ["Tried=true,Tried=false", "Tried is set to both on and off"],
  ];
  for (const [text, message] of wrong) {
    it(`say what is wrong with ${text}`, () => {
      expect(() => parse(text)).to.throw(FeatureGateError, message);
    });
  }

  it("come by flag before variable, to both roles, and end the program with the flag's name", () => {
    const env = { KUBERNETES_SERVICE_HOST: "192.0.2.1", NODE_NAME: "n", POD_NAME: "p" };
    for (const role of ["controller", "agent"]) {
      const features = (argv: string[], more = {}) => {
        const config = parseConfig([role, ...argv], { ...env, ...more });
        if (config.role === "api-proxy") throw new Error("api-proxy takes no gates");
        return config.features;
      };
      expect(features([]).ReadAsNode).to.equal(featureGates.ReadAsNode.default);
      const off = { NODEVOLUME_FEATURE_GATES: "ReadAsNode=false" };
      expect(features([], off).ReadAsNode).to.equal(false);
      expect(features(["--feature-gates=ReadAsNode=true"], off).ReadAsNode).to.equal(true);
      expect(() => features(["--feature-gates=Nothing=true"])).to.throw(ConfigError, "--feature-gates: there is no");
    }
  });

  it("are told by a metric, of the role that they are of", async () => {
    const features = { ReadAsNode: false, KernelMountTable: true };
    const agent = new Registry();
    registerRoleMetrics(agent, "agent", { processMetrics: false, features });
    expect(await agent.metrics())
      .to.include('nodevolume_feature_enabled{name="ReadAsNode",stage="Beta"} 0')
      .and.include('nodevolume_feature_enabled{name="KernelMountTable",stage="Beta"} 1');
    const controller = new Registry();
    registerRoleMetrics(controller, "controller", { processMetrics: false, features });
    expect(await controller.metrics()).not.to.include("ReadAsNode");
  });

  it("keep to what their stages mean", () => {
    for (const [name, { stage, default: on }] of Object.entries(featureGates as GateTable)) {
      if (stage === "Alpha") expect(on, `${name} is Alpha, and so off`).to.equal(false);
      if (stage === "GA") expect(on, `${name} is GA, and so on`).to.equal(true);
    }
  });

  it("stand in docs/settings.md as they are, and decide something somewhere", () => {
    const lines = readFileSync(join(root, "docs/settings.md"), "utf8").split("\n");
    const rows = lines.filter((line) => /^\| `[A-Z]\w+` \| (Alpha|Beta|GA) \|/.test(line));
    const said = Object.entries(featureGates as GateTable).map(
      ([name, { stage, default: on, since, removal = "", roles, what }]) =>
        `| \`${name}\` | ${stage} | \`${on}\` | ${since} | ${removal} | ${roles.join(", ")} | ${what} |`.replace(
          "|  |",
          "| |",
        ),
    );
    expect(rows).to.deep.equal(said);
    const wiring = ["agent", "controller"].map((role) => readFileSync(join(root, `src/${role}/run.ts`), "utf8")).join();
    for (const name of Object.keys(featureGates)) expect(wiring).to.include(`config.features.${name}`);
  });
});
