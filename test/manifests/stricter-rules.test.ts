import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { type JsonObject, mergePatch } from "../../hack/lib/api-client.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { refusal } from "../lib/corpus/corpus-server.ts";

/** Where a copy of our CRD is tried, apart from the lane's own. */
const group = "stricter.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const name = `nodevolumesets.${group}`;
const sets = `/apis/${group}/v1alpha1/nodevolumesets`;

const digest = "0123456789abcdef".repeat(4);

/** Sets that an earlier version took, each with the field that is refused today. */
const taken: readonly (readonly [field: string, spec: JsonObject])[] = [
  [
    "spec.volume.source.image.reference",
    { volume: { source: { image: { reference: `registry.example:99999/a@sha256:${digest}` } } } },
  ],
  [
    "spec.volume.source.iscsi.portals",
    {
      volume: {
        source: { iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2024-01.example:a", lun: 1, portals: ["10.0.0.1"] } },
      },
    },
  ],
  [
    "spec.volume.source.local.lvm.logicalVolume",
    { volume: { source: { local: { lvm: { volumeGroup: "vg", logicalVolume: "pvmove0" } } } } },
  ],
  ["spec.volume.source.hostPath.path", { volume: { source: { hostPath: { path: "/srv/\u202eatad" } } } }],
  [
    "spec.allowedNamespaces.selector.matchLabels",
    { volume: { source: { emptyDir: {} } }, allowedNamespaces: { selector: { matchLabels: { "-/-": "a" } } } },
  ],
];

describe("objects that an earlier version took, and the rules of this one", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
    const applied = await cluster.admin.call("POST", definitions, { body: definition(false) });
    expect(applied.status, JSON.stringify(applied.body)).to.equal(201);
    await until("the copy to be served", 30_000, async () => (await cluster.admin.call("GET", sets)).status === 200);
    for (const [i, [field, spec]] of taken.entries()) {
      const body = { apiVersion: `${group}/v1alpha1`, kind: "NodeVolumeSet", metadata: { name: `set-${i}` }, spec };
      const made = await cluster.admin.call("POST", sets, { body });
      expect(made.status, `${field}: ${refusal(made)}`).to.equal(201);
    }
    const { spec } = definition(true);
    const changed = await cluster.admin.call("PATCH", `${definitions}/${name}`, {
      contentType: mergePatch,
      body: { spec },
    });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
  });
  after(() => cluster?.admin.call("DELETE", `${definitions}/${name}`));

  const patch = (i: number, body: JsonObject, subresource = "") =>
    cluster.admin.call("PATCH", `${sets}/set-${i}${subresource}`, { contentType: mergePatch, body });

  for (const [i, [field, spec]] of taken.entries()) {
    it(`${field}: is refused anew, and an object that has it can be changed elsewhere`, async () => {
      await until("the rules to be in force", 30_000, async () => {
        const body = { apiVersion: `${group}/v1alpha1`, kind: "NodeVolumeSet", metadata: { name: "new" }, spec };
        const answer = await cluster.admin.call("POST", `${sets}?dryRun=All`, { body });
        return answer.status === 422 && refusal(answer).some((line) => line.startsWith(`${field}`));
      });
      const answers = [
        await patch(i, { metadata: { labels: { team: "a" } } }),
        await patch(i, { status: { observedGeneration: 1 } }, "/status"),
        await patch(i, { spec: { deletionPolicy: "Unmount", nodeSelector: { disk: "ssd" } } }),
      ];
      expect(answers.map(({ status, body }) => `${status} ${status < 300 ? "" : JSON.stringify(body)}`)).to.deep.equal([
        "200 ",
        "200 ",
        "200 ",
      ]);
    });
  }
});

/** The CRD of sets in the other group, with or without its rules. */
function definition(hasRules: boolean) {
  const ours = load(readFileSync(join(root, "crds/nodevolume.dev_nodevolumesets.yaml"), "utf8")) as {
    spec: { names: JsonObject; versions: readonly JsonObject[] };
  };
  const { shortNames: _, ...names } = ours.spec.names;
  const versions = hasRules ? ours.spec.versions : withoutRules(ours.spec.versions);
  const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name } };
  return { ...kind, spec: { ...ours.spec, group, names, versions } };
}

function withoutRules(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutRules);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => key !== "x-kubernetes-validations");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutRules(value)]));
}
