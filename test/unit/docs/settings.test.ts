import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { parseConfig } from "../../../src/config.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const document = textOf("docs/settings.md");
const rows = document
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

describe("docs/settings.md", () => {
  const source = textOf("src/config.ts");

  it("has each flag of all roles, and no other", () => {
    const flags = [...source.matchAll(/^ {2}"?([a-z-]+)"?: \{ type: "string"/gm)].map(([, name]) => `--${name}`);
    expect(flags.length).to.be.greaterThan(20);
    const documented = rows.flatMap(([, flag = ""]) => /^`(--[a-z-]+)`/.exec(flag)?.[1] ?? []);
    expect(documented.sort()).to.deep.equal(flags.sort());
  });

  it("has each variable that is read, and no other", () => {
    const read = [...source.matchAll(/env\["(\w+)"\]/g)].map(([, name = ""]) => name);
    const own = new Set(read.filter((name) => !name.startsWith("KUBERNETES_")));
    const documented = rows.flatMap(([, , variables = ""]) => variables.match(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []);
    expect(documented.sort()).to.deep.equal([...own].sort());
  });

  it("has the defaults that are taken", () => {
    const env = { KUBERNETES_SERVICE_HOST: "192.0.2.1", NODE_NAME: "n", POD_NAME: "p" };
    const configs = ["controller", "agent", "api-proxy"].map((role) => parseConfig([role], env));
    const taken: { readonly [field: string]: unknown } = Object.assign({}, ...configs);
    const place = ({ host, port }: { host: string; port: number }) => `${host}:${port}`;
    const others: { readonly [flag: string]: unknown } = {
      "--allowed-prefix": (taken["allowedPrefixes"] as string[]).join(","),
      "--metrics-address": place(taken["metricsAddress"] as { host: string; port: number }),
      "--page-address": place(taken["pageAddress"] as { host: string; port: number }),
      "--flocker-control-service": place(taken["flocker"] as { host: string; port: number }),
      "--reap-orphans-grace-period": taken["reapOrphansGracePeriodMs"],
    };
    let compared = 0;
    for (const [, flag = "", , shown = ""] of rows) {
      const [, value] = /^`([^`]+)`$/.exec(shown) ?? [];
      const name = /^`(--[a-z-]+)`/.exec(flag)?.[1] ?? "";
      if (value === undefined || name === "") continue;
      const field = name.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      expect(value, name).to.equal(String(others[name] ?? taken[field]));
      compared += 1;
    }
    expect(compared).to.equal(21);
  });

  it("has each component, and no other", () => {
    const documented = rows.flatMap(([, name = ""]) => /^`([a-z0-9.][a-z0-9.-]*)`$/.exec(name)?.[1] ?? []);
    expect(documented).to.deep.equal(readdirSync(join(root, "config/components")).sort());
  });
});
