import { expect } from "chai";
import type { VolumeSource } from "../../../../src/api/types.gen.ts";
import { quantityRatio } from "../../../../src/api/values/quantity.ts";
import type { ObjectContent } from "../../../../src/plugins/api/content.ts";
import type { VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { downwardAPI } from "../../../../src/plugins/files/downward-api.ts";
import { type NodeObject, nodeField } from "../../../../src/plugins/files/node-fields.ts";
import { projected } from "../../../../src/plugins/files/projected.ts";

const specOf = (source: VolumeSource): VolumeSpec => ({
  ...{ key: "k", nodeName: "n1", source, volumeMode: "Filesystem", mountOptions: [] },
});
const content = (data: { [key: string]: string }): ObjectContent => ({
  version: "u/1",
  data: new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)])),
});

/** The files of a projected volume, as `path mode text`. */
function filesOf(
  sources: NonNullable<VolumeSource["projected"]>["sources"],
  contents: readonly ObjectContent[],
  defaultMode?: number,
): string[] {
  const spec = specOf({ projected: { sources, ...(defaultMode !== undefined && { defaultMode }) } });
  const files = projected.payload(spec, contents);
  return files.map((file) => `${file.path} ${file.mode.toString(8)} ${Buffer.from(file.content).toString()}`);
}

const site = { namespace: "web", name: "site" };

describe("the files of a projected volume", () => {
  it("are those of its sources, each with its mode or that of all", () => {
    const sources = [
      { configMap: { ...site, items: [{ key: "a", path: "conf/a", mode: 0o444 }] } },
      { secret: { ...site } },
      { serviceAccountToken: { namespace: "web", serviceAccountName: "sa", path: "token" } },
      { clusterTrustBundle: { name: "ca", path: "tls/ca.pem" } },
      { downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
    ];
    const contents = [{ a: "1", b: "2" }, { key: "s" }, { token: "t" }, { bundle: "pem" }, { "metadata.name": "n1" }];
    expect(filesOf(sources, contents.map(content), 0o400)).to.deep.equal([
      "conf/a 444 1",
      "key 400 s",
      "token 400 t",
      "tls/ca.pem 400 pem",
      "name 400 n1",
    ]);
  });

  it("show the later of two keys with one name, as kubelet does", () => {
    const files = filesOf([{ configMap: site }, { secret: site }], [content({ a: "first" }), content({ a: "second" })]);
    expect(files).to.deep.equal(["a 644 second"]);
  });

  it("are none where one would be a file and a directory", () => {
    const sources = [{ configMap: site }, { secret: { ...site, items: [{ key: "k", path: "a/b/c" }] } }];
    expect(() => filesOf(sources, [content({ a: "" }), content({ k: "" })]))
      .to.throw("a is a file of one source and the directory of a/b/c of another")
      .with.property("reason", "FileConflict");
  });

  it("are none while a key is missing that is not optional", () => {
    const items = [{ key: "k", path: "p" }];
    expect(() => filesOf([{ secret: { ...site, items } }], [content({})])).to.throw("Secret site has no key k");
    expect(filesOf([{ secret: { ...site, items, optional: true } }], [content({})])).to.deep.equal([]);
  });

  it("are of what its layout names, in the order of the sources", () => {
    const bundle = { signerName: "a.b/c", path: "ca" };
    const { content: refs } = projected.layout(
      specOf({
        projected: {
          sources: [
            { configMap: site },
            { serviceAccountToken: { namespace: "web", serviceAccountName: "sa", path: "t" } },
            { clusterTrustBundle: bundle },
            { clusterTrustBundle: { ...bundle, path: "all", labelSelector: {}, optional: true } },
          ],
        },
      }),
    );
    const token = { namespace: "web", name: "sa", nodeName: "n1", audience: undefined, expirationSeconds: 3600 };
    expect(refs).to.deep.equal([
      { kind: "ConfigMap", ...site, optional: false },
      { kind: "ServiceAccount", ...token },
      { kind: "ClusterTrustBundle", name: "a.b/c", selector: "none", optional: false },
      { kind: "ClusterTrustBundle", name: "a.b/c", selector: {}, optional: true },
    ]);
  });
});

const node: NodeObject = {
  metadata: {
    name: "n1",
    uid: "u",
    labels: { b: 'x"\\', a: "1" },
    annotations: { "a.b/c": "l1\nl2", "tab é": "\t\x01\u200b😀" },
  },
  spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "fd00::/64"], providerID: "p://1" },
  status: {
    addresses: [
      { type: "Hostname", address: "n1" },
      { type: "ExternalIP", address: "1.2.3.4" },
      { type: "InternalIP", address: "10.1.1.1" },
      { type: "InternalIP", address: "fd00::1" },
    ],
    nodeInfo: { kernelVersion: "6.12" },
    allocatable: { cpu: "3920m", memory: "7950000Ki" },
    capacity: { cpu: "4" },
  },
};

describe("a field of the Node", () => {
  const fields: readonly [path: string, text: string][] = [
    ["metadata.name", "n1"],
    ["spec.nodeName", "n1"],
    ["metadata.uid", "u"],
    ["metadata.labels['a']", "1"],
    ["metadata.labels['not-there']", ""],
    ["metadata.annotations['a.b/c']", "l1\nl2"],
    ["metadata.labels", 'a="1"\nb="x\\"\\\\"'],
    // What Go 1.24 prints for %q of these.
    ["metadata.annotations", 'a.b/c="l1\\nl2"\ntab é="\\t\\x01\\u200b😀"'],
    ["spec.podCIDRs", "10.0.0.0/24,fd00::/64"],
    ["spec.providerID", "p://1"],
    ["status.hostIP", "10.1.1.1"],
    ["status.hostIPs", "10.1.1.1,fd00::1"],
    ["status.nodeInfo.kernelVersion", "6.12"],
    ["status.nodeInfo.osImage", ""],
    ["allocatable.cpu", "3920m"],
    ["capacity.example.com/gpu", "0"],
  ];
  for (const [path, text] of fields) {
    it(`${path} is ${JSON.stringify(text)}`, () => expect(nodeField(node, path)).to.equal(text));
  }

  it("is nothing of a Node that has nothing", () => {
    const bare = { metadata: { name: "n" } };
    expect(["metadata.labels", "status.hostIPs", "spec.podCIDRs"].map((path) => nodeField(bare, path))).to.deep.equal([
      "",
      "",
      "",
    ]);
  });

  it("is nothing by a name that every object has", () => {
    const bare = { metadata: { name: "n", labels: {} }, status: { nodeInfo: {}, capacity: {} } };
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(nodeField(bare, `metadata.labels['${name}']`)).to.equal("");
      expect(nodeField(bare, `status.nodeInfo.${name}`)).to.equal("");
      expect(nodeField(bare, `capacity.${name}`)).to.equal("0");
    }
  });

  it("is an amount in the unit that is asked for, rounded up", () => {
    const amount = (resource: string, divisor?: string) => ({
      path: "p",
      resourceFieldRef: { resource, ...(divisor !== undefined && { divisor: divisor as "1" }) },
    });
    const items = [amount("allocatable.cpu"), amount("allocatable.cpu", "1m"), amount("allocatable.memory", "1Gi")];
    const data = content({ "allocatable.cpu": "3920m", "allocatable.memory": "7950000Ki" });
    const shown = downwardAPI.payload(specOf({ downwardAPI: { items } }), [data]);
    expect(shown.map((file) => Buffer.from(file.content).toString())).to.deep.equal(["4", "3920", "8"]);
  });

  it("is divided exactly, however large or small", () => {
    expect([
      quantityRatio("1Ei", "1"),
      quantityRatio("1n", "1"),
      quantityRatio("0", "1m"),
      quantityRatio("-1500m", "1"),
      quantityRatio("12e3", "1k"),
      quantityRatio("2", "1m"),
    ]).to.deep.equal([1152921504606846976n, 1n, 0n, -2n, 12n, 2000n]);
  });
});
