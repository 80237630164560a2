import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { load, loadAll } from "js-yaml";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { kstatus, type Statused } from "../lib/asserts/kstatus.ts";
import { blocksOf } from "../lib/docs/blocks.ts";
import { Argo, type Opinions } from "../lib/servers/argo.ts";
import { setEntry } from "../unit/controller/objects.ts";
import { type OneNode, oneNode } from "../unit/controller/one-node.ts";
import { fleet, report, statusOf } from "../unit/controller/sets/set-worlds.ts";

const run = promisify(execFile);
const component = "config/gitops/argocd";

interface Staged {
  readonly what: string;
  readonly set: Statused;
  readonly health: string;
}

/** What Argo CD calls what kstatus finds. */
const sameAs = { Current: "Healthy", InProgress: "Progressing", Failed: "Degraded", Terminating: "Progressing" };

function staged(what: string, worlds: OneNode[], health: string): Staged {
  const metadata = worlds[0]?.sets.find((set) => set.metadata.name === "a")?.metadata ?? expect.fail("no set");
  return { what, set: { metadata: { ...metadata }, status: statusOf(worlds) }, health };
}

/** The set a on two nodes, of which the second says this. */
function told(ready: "False" | "Unknown", reason: string, spec = {}): OneNode[] {
  const worlds = fleet(2, [setEntry("a", { spec })]);
  report(worlds[1], "Ready", ready, reason, "m");
  return worlds;
}

function changed(worlds: OneNode[], ...options: Parameters<typeof setEntry>): OneNode[] {
  for (const world of worlds) world.sets = [setEntry(...options)];
  return worlds;
}

function paused(): OneNode[] {
  const newer = { generation: 2, spec: { mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] } };
  const worlds = changed(fleet(2), "a", newer);
  worlds[0]?.settle();
  report(worlds[0], "Ready", "False", "ForeignMount", "m");
  return worlds;
}

const volume = { source: { emptyDir: {} } };
const conflicting = setEntry("b", { spec: { volume, mounts: [{ name: "m", path: "/mnt/nodevolume/a/x" }] } });
const noWhere = { spec: { nodeSelector: { no: "where" } } };
const fresh = { metadata: { generation: 1 }, status: { observedGeneration: -1 } };

const corpus: readonly Staged[] = [
  { what: "that was just applied", set: fresh, health: "Progressing" },
  staged("that is ready everywhere", fleet(2), "Healthy"),
  staged("for pods alone", [oneNode([setEntry("a", { spec: { mounts: [] } })])], "Healthy"),
  staged("whose intents are being written", [oneNode([setEntry("a")])], "Progressing"),
  staged("whose server does not respond", told("False", "ServerUnreachable"), "Progressing"),
  staged("of a node without its agent", told("Unknown", "AgentLost"), "Progressing"),
  staged("that selects no node", [oneNode([setEntry("a", noWhere)])], "Progressing"),
  staged("that is rolled out", changed(fleet(2), "a", { generation: 2, spec: { volume } }), "Progressing"),
  staged("whose rollout is paused", paused(), "Degraded"),
  staged("whose source does not exist", told("False", "SourceNotFound"), "Degraded"),
  staged("in conflict", fleet(1, [setEntry("a"), conflicting]), "Degraded"),
  staged("that is invalid", changed(fleet(1), "a", { spec: { future: true } as object }), "Degraded"),
  staged("that is suspended and complete", fleet(1, [setEntry("a", { spec: { suspend: true } })]), "Healthy"),
  staged("that is suspended before it is complete", told("False", "Suspended", { suspend: true }), "Suspended"),
  staged("that is being deleted", changed(fleet(1), "a", { deleted: true }), "Progressing"),
];

slowSuite("docs/tasks/gitops.md", () => {
  let argo: Argo;
  before(async function () {
    this.timeout(20 * 60_000); // it may have to be built, once
    argo = await Argo.locate();
  });

  const blocks = blocksOf("docs/tasks/gitops.md").filter(({ text }) => text.includes("kustomize.toolkit.fluxcd.io/v1"));
  const kustomizations = blocks.flatMap(({ text }) => loadAll(text) as { metadata: { name: string } }[]);

  it("names only fields that Flux has", async () => {
    const names = kustomizations.map(({ metadata: { name } }) => name);
    expect(names).to.deep.equal(["nodevolume-operator", "nodevolume-sets"]);
    expect(await argo.decode(kustomizations)).to.deep.equal(["", ""]);
    const [mistyped] = await argo.decode(kustomizations.map((one) => ({ ...one, spec: { prun: true } })));
    expect(mistyped).to.include("prun");
  });
});

slowSuite(`the health of a set, by ${component}`, () => {
  let data: { readonly [key: string]: string };
  let opinions: Opinions[];
  let without: Opinions[];
  before(async function () {
    this.timeout(20 * 60_000); // it may have to be built, once
    const argo = await Argo.locate();
    data = await withComponent();
    const resources = corpus.map(({ set }) => {
      const metadata = { name: "a", ...set.metadata };
      return { ...set, apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata };
    });
    opinions = await argo.health({ healthLua: scriptsIn(data), resources });
    without = await argo.health({ resources });
  });

  it("is added to argocd-cm, whose other keys stay", () => {
    const key = "resource.customizations.health.nodevolume.dev_NodeVolumeSet";
    expect(data).to.deep.equal({
      url: "https://a.b",
      [key]: readFileSync(join(root, component, "health.lua"), "utf8"),
    });
  });

  for (const [at, { what, set, health }] of corpus.entries())
    it(`of one ${what} is ${health} for Argo CD, and what kstatus finds`, () => {
      expect(opinions[at]?.health?.status, opinions[at]?.health?.message).to.equal(health);
      expect(opinions[at]?.kstatus, "the library, and test/lib/asserts/kstatus.ts").to.equal(kstatus(set));
      // kstatus has no word for it.
      if (health === "Suspended") expect(kstatus(set)).to.equal("InProgress");
      else expect(health).to.equal(sameAs[kstatus(set)]);
    });

  it("comes with the message of the set's condition", () => {
    const at = corpus.findIndex(({ what }) => what === "whose source does not exist");
    expect(opinions[at]?.health?.message).to.equal("n1: m");
  });

  it("is unknown to Argo CD without it, but for a set that is being deleted", () => {
    const known = corpus.filter((_, at) => without[at]?.health !== null).map(({ what }) => what);
    expect(known).to.deep.equal(["that is being deleted"]);
  });
});

/** The data of argocd-cm, once the kustomization that installs Argo CD has the component. */
async function withComponent(): Promise<{ readonly [key: string]: string }> {
  const kubectl = await locateTool("kubectl", { env: process.env, report: () => undefined });
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-argocd-"));
  try {
    const config = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "argocd-cm" },
      data: { url: "https://a.b" },
    };
    writeFileSync(join(directory, "argocd-cm.yaml"), JSON.stringify(config));
    const components = [relative(directory, join(root, component))];
    const kustomization = { namespace: "argocd", resources: ["argocd-cm.yaml"], components };
    writeFileSync(join(directory, "kustomization.yaml"), JSON.stringify(kustomization));
    return (load((await run(kubectl, ["kustomize", directory])).stdout) as { data: { [key: string]: string } }).data;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** By group/Kind, as Argo CD reads them out of argocd-cm. */
function scriptsIn(data: { readonly [key: string]: string }): { [groupAndKind: string]: string } {
  const found = Object.entries(data).flatMap(([key, script]) => {
    const [, group, kind] = /^resource\.customizations\.health\.([^_]+)_(.+)$/.exec(key) ?? [];
    return group === undefined ? [] : [[`${group}/${kind}`, script]];
  });
  return Object.fromEntries(found) as { [groupAndKind: string]: string };
}
