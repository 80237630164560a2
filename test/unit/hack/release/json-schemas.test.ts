import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../../../hack/lib/root.ts";
import { crdSchemas, manifestSchema } from "../../../../hack/release/json-schemas.ts";

type JsonObject = { [field: string]: unknown };

const names = {
  NodeVolumeIntent: "nodevolume.dev/nodevolumeintent_v1alpha1.json",
  NodeVolumeSet: "nodevolume.dev/nodevolumeset_v1alpha1.json",
  NodeVolumeState: "nodevolume.dev/nodevolumestate_v1alpha1.json",
};

describe("crdSchemas", () => {
  const files = crdSchemas();
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, validateFormats: false });
  const schemaIn = (path: string) => JSON.parse(String(files.get(path)?.content)) as JsonObject;
  const schemas = new Map(
    Object.entries(names).map(([kind, path]): [string, ValidateFunction] => [kind, ajv.compile(schemaIn(path))]),
  );
  /** What is wrong with a manifest, by the schema of its kind. */
  const problemsOf = (manifest: JsonObject): string[] => {
    const check = schemas.get(String(manifest["kind"])) ?? expect.fail(`no schema of ${manifest["kind"]}`);
    if (check(manifest)) return [];
    return (check.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, ...Object.values(params)].join(" "),
    );
  };

  it("are one a kind, where kubeconform looks for them", () => {
    expect([...files.keys()].sort()).to.deep.equal(Object.values(names));
  });

  it("are written by the script that docs/release.md names", function () {
    this.timeout(60_000); // a process of its own
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-schemas-"));
    try {
      execFileSync(process.execPath, [join(root, "hack/release/crd-schemas.ts"), "--out", directory]);
      for (const [path, { content }] of files) expect(readFileSync(join(directory, path), "utf8")).to.equal(content);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  const samples = globSync("config/samples/**/*.yaml", { cwd: root }).filter(
    (file) => !file.endsWith("kustomization.yaml"),
  );
  for (const file of samples.sort())
    it(`take ${file}`, () => {
      const manifests = loadAll(readFileSync(join(root, file), "utf8")) as JsonObject[];
      const ours = manifests.filter(({ kind }) => kind === "NodeVolumeSet");
      expect(ours).not.to.deep.equal([]);
      expect(ours.flatMap(problemsOf)).to.deep.equal([]);
    });

  const set = (spec: JsonObject, metadata: JsonObject = { name: "a" }) => ({
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeSet",
    metadata,
    spec,
  });
  const volume = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };

  it("refuse a field that is misspelled, at every depth, and name it", () => {
    expect(problemsOf(set({ volume, mount: [] }))).to.deep.equal(["/spec must NOT have additional properties mount"]);
    const deep = { source: { emptyDir: { medium: "Memory", sizelimit: "1Mi" } } };
    expect(problemsOf(set({ volume: deep })).join())
      .to.include("/spec/volume/source/emptyDir")
      .and.include("sizelimit");
    expect(problemsOf(set({ volume }, { name: "a", label: {} })).join())
      .to.include("/metadata")
      .and.include("label");
  });

  it("refuse a value that is not one of those that there are, another version, and what has no spec", () => {
    expect(problemsOf(set({ volume, mode: "manage" })).join()).to.include("/spec/mode must be equal to one of");
    expect(problemsOf({ ...set({ volume }), apiVersion: "nodevolume.dev/v2" }).join()).to.include("/apiVersion");
    const { spec: _, ...rest } = set({ volume });
    expect(problemsOf(rest).join()).to.include("required property 'spec'");
  });

  it("take a number where the API server takes one, or a text", () => {
    for (const maxUnavailable of [1, "10%"])
      expect(problemsOf(set({ volume, rollout: { maxUnavailable } }))).to.deep.equal([]);
    expect(problemsOf(set({ volume, rollout: { maxUnavailable: true } })).join()).to.include("/rollout/maxUnavailable");
  });

  it("leave open what a CRD leaves open: the source of an intent", () => {
    const source = { emptyDir: { anything: 1 } };
    const intent = { ...set({ nodeName: "node-1", volumeName: "a", source, mounts: [] }), kind: "NodeVolumeIntent" };
    expect(problemsOf(intent).filter((problem) => problem.includes("source"))).to.deep.equal([]);
  });

  it("say of each field what the CRD says of it, and nothing that only the API server understands", () => {
    const { spec } = (schemaIn(names.NodeVolumeSet) as { properties: { [field: string]: JsonObject } }).properties;
    expect(spec?.["description"]).to.include("Written by people");
    for (const { content } of files.values()) expect(String(content)).not.to.match(/x-kubernetes-|"int(32|64)"/);
  });
});

describe("manifestSchema", () => {
  it("does not require what the API server fills in", () => {
    const spec = {
      type: "object",
      required: ["a", "b"],
      properties: { a: { type: "string" }, b: { type: "string", default: "x" } },
    };
    const crd = { type: "object", required: ["spec"], properties: { spec } };
    const schema = manifestSchema(crd, { apiVersion: "example.com/v1", kind: "Example" });
    expect(schema["required"]).to.deep.equal(["apiVersion", "kind", "metadata", "spec"]);
    expect((schema["properties"] as JsonObject)["spec"]).to.deep.equal({
      ...spec,
      required: ["a"],
      additionalProperties: false,
    });
  });
});
