import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { readPage } from "../../lib/docs/blocks.ts";

/** Messages of ours by which a reader finds the row; those of kubelet and the API server are not here. */
const quoted: readonly string[] = [
  "agent's --kubelet-dir must be kubelet's --root-dir",
  "csi.nodevolume.dev is not served",
  "intents are made and removed by the controller",
  "it has format",
  "mode cannot go from Manage to Observe",
  "The ClusterRole nvi-viewer grants what this plugin reads",
  "the cluster cannot be reached",
  "node, volume or set",
  "this cluster only observes",
  "this would delete every object of the kind, and unmount what is mounted on every node",
];

describe("messages that docs/troubleshooting.md and docs/tasks/upgrade.md quote", () => {
  const paths = globSync(["src/**/*.ts", "config/**/*.yaml", "crds/*.yaml"], { cwd: root });
  // Folded YAML and template strings break them anywhere.
  const written = paths.map((path) => readFileSync(join(root, path), "utf8").replace(/\s+/g, " ")).join("\n");
  const pages = readPage("docs/troubleshooting.md") + readPage("docs/tasks/upgrade.md");

  for (const message of quoted)
    it(`"${message}" is what our programs or policies answer`, () => {
      expect(pages).to.include(message);
      expect(written.includes(message), "no source has it").to.equal(true);
    });
});
