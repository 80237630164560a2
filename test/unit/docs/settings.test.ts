import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { parseConfig } from "../../../src/config.ts";
import { allSettings } from "../../../src/configuration.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const document = textOf("docs/settings.md");
const rows = document
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

/** Of the table, and those that code reads by name. */
const variables = new Set([
  ...allSettings.flatMap(({ env }) => env ?? []),
  ...["src/config.ts", "src/configuration.ts"].flatMap((path) =>
    [...textOf(path).matchAll(/env\["(\w+)"\]/g)].map(([, name = ""]) => name),
  ),
]);
for (const name of variables) if (name.startsWith("KUBERNETES_")) variables.delete(name);

describe("docs/settings.md", () => {
  it("has each flag of all roles, and no other", () => {
    const flags = allSettings.map(({ flag }) => `--${flag}`);
    expect(flags.length).to.be.greaterThan(20);
    const documented = rows.flatMap(([, flag = ""]) => /^`(--[a-z-]+)`/.exec(flag)?.[1] ?? []);
    expect(documented.sort()).to.deep.equal(flags.sort());
  });

  it("has each variable that is read, and no other", () => {
    const documented = rows.flatMap(([, , variables = ""]) => variables.match(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []);
    expect(documented.sort()).to.deep.equal([...variables].sort());
  });

  it("says of each setting what the program's own help says, beside its variable", () => {
    for (const { flag, env, doc } of allSettings) {
      const [, , variable, , meaning] = rows.find(([, name = ""]) => name.startsWith(`\`--${flag}\``)) ?? [];
      expect(meaning, flag).to.equal(doc);
      if (env !== undefined) expect(variable, flag).to.match(new RegExp(`^\`${env}\``));
    }
  });

  it("has each variable of ours that a manifest sets: no role reads another", () => {
    const manifests = globSync("config/**/*.yaml", { cwd: root }).map(textOf);
    const set = manifests.flatMap((text) => text.match(/\bNODEVOLUME_[A-Z_]+\b/g) ?? []);
    expect(set.length).to.be.above(30);
    expect(set.filter((name) => !variables.has(name))).to.deep.equal([]);
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
