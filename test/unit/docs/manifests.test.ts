// What docs-manifests.test.ts asks an API server, asked of the validators in code: of every page, in a second.
import { expect } from "chai";
import { podDriver } from "../../../src/api/names.ts";
import { podVolumeRequest } from "../../../src/api/pod-attributes.ts";
import { parseSet } from "../../../src/api/validate.ts";
import { blocksOf, pages, parseBlocks } from "../../lib/docs/blocks.ts";
import { type Manifest, manifestsOf } from "../../lib/docs/manifests.ts";

interface PodSpec {
  readonly template?: { readonly spec?: PodSpec };
  readonly volumes?: readonly {
    readonly name: string;
    readonly csi?: {
      readonly driver: string;
      readonly readOnly?: boolean;
      readonly volumeAttributes?: { readonly [name: string]: string };
    };
  }[];
}

/** What is wrong with an object of ours, or with what a pod asks our driver for. */
function problemsOf(manifest: Manifest): string[] {
  if (manifest.kind === "NodeVolumeSet") {
    const parsed = parseSet(manifest);
    return parsed.ok ? [] : parsed.errors.map(({ path, message }) => `${path}: ${message}`);
  }
  const spec = manifest["spec"] as PodSpec | undefined;
  return ((spec?.template?.spec ?? spec)?.volumes ?? []).flatMap(({ name, csi }) => {
    if (csi?.driver !== podDriver) return [];
    const wish = podVolumeRequest(new Map(Object.entries(csi.volumeAttributes ?? {})), csi.readOnly === true);
    return "field" in wish ? [`volume ${name}: ${wish.field} ${wish.message}`] : [];
  });
}

describe("YAML in the documentation, checked in code", () => {
  for (const page of pages()) {
    const blocks = blocksOf(page).filter(({ language, told }) => language === "yaml" && !told.has("not run"));
    if (blocks.length === 0) continue;
    it(`of ${page} is what the API takes`, () => {
      for (const block of blocks) {
        const manifests = manifestsOf(block);
        if (manifests === "Kustomization") continue;
        for (const manifest of manifests)
          expect(problemsOf(manifest), `${page}:${block.line} ${manifest.metadata.name}`).to.deep.equal([]);
      }
    });
  }

  it("finds a field that there is none of, and an attribute that the driver refuses", () => {
    const text = [
      "<!-- part of: NodeVolumeSet spec -->\n```yaml\nmod: Observe\n```",
      "<!-- part of: Pod spec -->\n```yaml\nvolumes: [{name: a, csi: {driver: csi.nodevolume.dev, volumeAttributes: {sett: b}}}]\n```",
    ].join("\n");
    const found = parseBlocks("x.md", text).map((block) => [manifestsOf(block)].flat() as Manifest[]);
    expect(found.flat().map((manifest) => problemsOf(manifest).length)).to.deep.equal([1, 1]);
  });
});
