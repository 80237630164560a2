import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect } from "chai";
import { load, loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { type TestCluster, testCluster } from "../lib/cluster.ts";
import { type Block, blocksOf, pages } from "../lib/docs/blocks.ts";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

const namespace = "docs-manifests";

describe("YAML in the documentation", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
    const made = [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      // Who would make it is not there, and no pod is taken without.
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
    ];
    await cluster.adminKubectl.run(
      ["apply", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: made }),
    );
  });
  after(() => cluster?.adminKubectl.try(["delete", "namespace", namespace, "--wait=false"]));

  for (const block of pages().flatMap(blocksOf)) {
    if (block.language !== "yaml" || block.told.has("not run")) continue;
    const [part] = block.told.get("part of") ?? [];
    const whole = wholeOf(block, part);

    if (whole === "Kustomization")
      it(`of ${block.page}:${block.line} renders`, async () => {
        const directory = mkdtempSync(join(tmpdir(), "nodevolume-docs-"));
        const config = relative(directory, join(root, "config"));
        writeFileSync(join(directory, "kustomization.yaml"), block.text.replaceAll("../", `${config}/`));
        expect(loadAll(await cluster.kubectl.run(["kustomize", directory]))).not.to.be.empty;
        rmSync(directory, { recursive: true });
      });
    else
      for (const manifest of whole)
        it(`of ${block.page}:${block.line} is accepted: ${manifest.kind} ${manifest.metadata.name}`, async () => {
          const isSet = manifest.kind === "NodeVolumeSet";
          const kubectl = isSet ? cluster.kubectl : cluster.adminKubectl;
          const given = manifest.metadata.namespace === undefined ? {} : { namespace };
          const object = { ...manifest, metadata: { ...manifest.metadata, ...given } };
          const args = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"];
          expect(await kubectl.run(args, JSON.stringify(object))).to.include("serverside-applied");
        });
  }
});

/** The objects of a block; what is a part of one only gets the rest that it needs. */
function wholeOf(block: Block, part: string | undefined): Manifest[] | "Kustomization" {
  if (part === "Kustomization") return "Kustomization";
  if (part === undefined) {
    const objects = (loadAll(block.text) as Manifest[]).filter((object) => object !== null);
    return objects.some(({ kind }) => kind === "Kustomization") ? "Kustomization" : objects;
  }
  const metadata = { name: "of-the-documentation" };
  const given = load(block.text) as { readonly [field: string]: unknown };
  const node = { volume: { source: { emptyDir: {} } } };
  const containers = [{ name: "c", image: "registry.example.com/c:1" }];
  const kinds: { readonly [part: string]: Manifest & { readonly [field: string]: unknown } } = {
    "Pod spec": { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, namespace }, spec: { containers, ...given } },
    "NodeVolumeSet spec": {
      apiVersion: "nodevolume.dev/v1alpha1",
      kind: "NodeVolumeSet",
      metadata,
      spec: { ...node, ...given },
    },
  };
  const found = kinds[part];
  if (found === undefined)
    throw new Error(`${block.page}:${block.line}: part of ${part}, of which no test knows the rest`);
  return [found];
}
