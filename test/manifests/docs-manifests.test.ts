import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { agentPodIn, nestedIn, prefixesIn, unseenIn } from "../lib/cluster/agent-pod.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { blocksOf, pages } from "../lib/docs/blocks.ts";
import { manifestsOf, docsNamespace as namespace } from "../lib/docs/manifests.ts";

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
    const whole = manifestsOf(block);

    if (whole === "Kustomization")
      it(`of ${block.page}:${block.line} renders`, async () => {
        const directory = mkdtempSync(join(tmpdir(), "nodevolume-docs-"));
        const config = relative(directory, join(root, "config"));
        writeFileSync(join(directory, "kustomization.yaml"), block.text.replaceAll("../", `${config}/`));
        const text = await cluster.kubectl.run(["kustomize", directory]);
        rmSync(directory, { recursive: true });
        expect(loadAll(text)).not.to.be.empty;
        if (!/^kind: DaemonSet$/m.test(text)) return;
        const pod = agentPodIn(text);
        expect(unseenIn(pod, prefixesIn(text)), "prefixes that the agent does not see").to.deep.equal([]);
        expect(nestedIn(pod), "nested in another that spreads").to.deep.equal([]);
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
