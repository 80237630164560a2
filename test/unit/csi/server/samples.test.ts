import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load, loadAll } from "js-yaml";
import { root } from "../../../../hack/lib/root.ts";
import { tokensStandInContext } from "../../../../src/api/driver-object.ts";
import { podDriver } from "../../../../src/api/names.ts";
import { podAttributes, podVolumeRequest } from "../../../../src/api/pod-attributes.ts";
import { driverObjectProblem } from "../../../../src/csi/server/driver-object-state.ts";

interface AnyObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: { readonly spec: AnyObject["spec"] };
    readonly volumes?: readonly {
      readonly csi?: { driver: string; readOnly?: boolean; volumeAttributes?: { [name: string]: string } };
    }[];
  };
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const blocksOf = (text: string) => [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ""]) => yaml);

/** Inline volumes of ours in pods, and in what makes pods. */
function volumesIn(yaml: string) {
  return (loadAll(yaml) as AnyObject[]).flatMap(({ spec }) =>
    ((spec?.template?.spec ?? spec)?.volumes ?? []).flatMap(({ csi }) => (csi?.driver === podDriver ? [csi] : [])),
  );
}

describe("what people are shown of pods", () => {
  const shown = [
    ...globSync("config/samples/**/*.yaml", { cwd: root }).map((path) => [path, read(path)] as const),
    ...blocksOf(read("docs/pods.md")).map((yaml) => ["docs/pods.md", yaml] as const),
  ];
  const volumes = shown.flatMap(([path, yaml]) => volumesIn(yaml).map((volume) => ({ path, volume })));

  it("has pods with each attribute, and of both kinds", () => {
    expect(new Set(volumes.map(({ path }) => path))).to.include.keys("config/samples/pods.yaml", "docs/pods.md");
    const used = new Set(volumes.flatMap(({ volume }) => Object.keys(volume.volumeAttributes ?? {})));
    // csi.readOnly says what readOnly did, and containers heed it: the attribute stays for pods that have it (decision
    // 0108).
    expect([...used]).to.have.members(podAttributes.filter((attribute) => attribute !== "readOnly"));
  });

  for (const [index, { path, volume }] of volumes.entries()) {
    it(`is what the driver takes: ${path}, volume ${index}`, () => {
      const attributes = new Map(Object.entries(volume.volumeAttributes ?? {}));
      expect(podVolumeRequest(attributes, volume.readOnly === true)).not.to.have.property("field");
    });
  }

  it("is called by kubelet as the agent asks for, by the CSIDriver of config", () => {
    const [object] = loadAll(read("config/agent/csi-driver.yaml")) as AnyObject[];
    expect([object?.kind, object?.metadata.name]).to.deep.equal(["CSIDriver", podDriver]);
    expect(driverObjectProblem(object)).to.equal(undefined);
  });

  it("is called so as well with tokens of pods, by config/components/pod-tokens and its example", () => {
    const files = ["agent/csi-driver", "components/pod-tokens/csi-driver", "components/pod-tokens/audiences.example"];
    const specs = files.map((file) => (load(read(`config/${file}.yaml`)) as AnyObject).spec);
    const spec = Object.assign({}, ...specs) as { readonly tokenRequests: readonly unknown[] };
    expect(spec.tokenRequests).to.have.length(1);
    expect([driverObjectProblem({ spec }), tokensStandInContext({ spec })]).to.deep.equal([undefined, false]);
    const { tokenRequests: _none, ...without } = spec;
    expect(driverObjectProblem({ spec: without })).to.include("requiresRepublish");
  });
});
