import { expect } from "chai";
import { ContentSource } from "../../../../src/agent/content/content-source.ts";
import type { ContentRef, TrustBundleRef } from "../../../../src/plugins/api/content.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const ref = { kind: "Secret", namespace: "team", name: "key", optional: false } as const;

/** One Secret that is followed, on a fake API server under a virtual clock. */
async function story() {
  const system = virtualSystem();
  const api = createFakeApiServer(system.timers);
  const put = (data: object, annotations: { [key: string]: string } = {}) =>
    api.apply("secrets", { metadata: { namespace: "team", name: "key", annotations }, data } as never);
  put({ password: "b25l" });
  let changes = 0;
  const contentSource = new ContentSource({ system, transport: api, onChange: () => changes++ });
  contentSource.follow([ref]);
  const settle = (ms = 1_000) => system.advance(ms);
  await settle();
  return { api, contents: contentSource, put, settle, changes: () => changes };
}

describe("ContentSource", () => {
  it("what changes beside the data is no new version", async () => {
    const { contents: contentSource, put, settle } = await story();
    const shown = () => {
      const state = contentSource.state(ref);
      return state.known ? [state.version, state.digest?.("salt")] : [];
    };
    const first = shown();
    expect(first[1]).to.match(/^[0-9a-f]{64}$/);
    put({ password: "b25l" }, { touched: "1" });
    await settle();
    expect(shown()).to.deep.equal(first);
    put({ password: "dHdv" });
    await settle();
    expect(shown()[0]).to.not.equal(first[0]);
    expect(shown()[1], "what is in it").to.not.equal(first[1]);
    put({ password: "dHdv", more: "" });
    await settle();
    expect(contentSource.get(ref)?.data.size).to.equal(2);
  });

  it("a value that is no text is none, as it may be as long as it says", async () => {
    const { contents: contentSource, put, settle } = await story();
    put({ password: { length: 2 ** 16 }, list: [1], nothing: null, text: "b25l" });
    await settle();
    expect([...(contentSource.get(ref)?.data ?? [])].map(([key, value]) => [key, `${value}`])).to.deep.equal([
      ["text", "one"],
    ]);
  });

  it("a Role that is taken away later: what was read stays known, and the reason is told, until it is given back", async () => {
    const { api, contents: contentSource, settle } = await story();
    api.fault = ({ path }) => (path.includes("secrets") ? { status: 403 } : undefined);
    api.breakWatches("close");
    await settle(15_000);
    const denied = contentSource.state(ref);
    expect(denied.known).to.equal(true);
    expect(denied.problem?.reason).to.equal("SecretAccessDenied");
    expect(denied.problem?.on).to.deep.equal({ kind: "Secret", namespace: "team", name: "key" });
    api.fault = () => undefined;
    await settle(15_000);
    expect(contentSource.state(ref).problem).to.equal(undefined);
  });

  it("what was deleted is not known again when the API server goes away", async () => {
    const { api, contents: contentSource, settle } = await story();
    expect(contentSource.state(ref).known).to.equal(true);
    api.remove("secrets", "team/key");
    await settle();
    expect(contentSource.state(ref).problem?.reason).to.equal("SecretNotFound");
    api.fault = () => ({ when: "before" });
    api.breakWatches("error");
    await settle(15_000);
    expect(contentSource.state(ref)).to.deep.include({ known: false });
    expect(contentSource.get(ref)).to.equal(undefined);
    contentSource.stop();
  });

  it("an object that never could be read is not known, and the reason is told", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    api.fault = () => ({ status: 403 });
    const contentSource = new ContentSource({ system, transport: api, onChange: () => {} });
    contentSource.follow([ref]);
    await system.advance(5_000);
    expect(contentSource.state(ref)).to.deep.include({ known: false });
    expect(contentSource.state(ref).problem?.reason).to.equal("SecretAccessDenied");
    contentSource.stop();
  });

  /** Something else that is followed, with objects of one resource on a fake API server. */
  async function other(ref: ContentRef, plural: string, objects: readonly object[]) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    for (const object of objects) api.apply(plural, object as never);
    const contentSource = new ContentSource({ system, transport: api, onChange: () => {} });
    contentSource.follow([ref]);
    const settle = () => system.advance(15_000);
    await settle();
    const shown = () => Object.fromEntries([...(contentSource.get(ref)?.data ?? [])].map(([k, v]) => [k, String(v)]));
    return { api, contents: contentSource, settle, shown };
  }

  const nodeRef = { kind: "Node", name: "n1", fields: ["metadata.labels['zone']", "metadata.name"] } as const;
  const node = (labels: object) => ({ metadata: { name: "n1", labels } });

  it("of a Node there is what is shown of it: another label is no new version", async () => {
    const { api, contents: contentSource, settle, shown } = await other(nodeRef, "nodes", [node({ zone: "a" })]);
    expect(shown()).to.deep.equal({ "metadata.labels['zone']": "a", "metadata.name": "n1" });
    const before = contentSource.state(nodeRef);
    api.patch("nodes", "n1", { metadata: { labels: { beside: "1" } } });
    await settle();
    expect(contentSource.state(nodeRef)).to.deep.equal(before);
    api.patch("nodes", "n1", { metadata: { labels: { zone: "b" } } });
    await settle();
    expect(shown()["metadata.labels['zone']"]).to.equal("b");
    expect(contentSource.state(nodeRef)).not.to.deep.equal(before);
  });

  it("a Node is read as the node; where that is refused, as the agent; and who may neither says so", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    api.apply("nodes", node({ zone: "a" }) as never);
    const refused = new Set(["system:node:n1", ""]);
    api.fault = ({ asUser = "" }) => (refused.has(asUser) ? { status: 403 } : undefined);
    const contentSource = new ContentSource({ system, transport: api, onChange: () => {} });
    contentSource.follow([nodeRef]);
    await system.advance(30_000);
    expect(contentSource.state(nodeRef).problem?.reason).to.equal("NodeAccessDenied");
    refused.delete("");
    await system.advance(60_000);
    expect(contentSource.state(nodeRef)).to.deep.include({ known: true });
    contentSource.stop();
  });

  const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
  const bundle = (name: string, signerName: string, trustBundle: string) => ({
    metadata: { name },
    spec: { signerName, trustBundle },
  });
  const bundles = [
    bundle("a.b:c:1", "a.b/c", pem("BBBB") + pem("AAAA")),
    bundle("a.b:c:2", "a.b/c", pem("AAAA")),
    bundle("x", "", pem("XXXX")),
  ];
  const trust = (name: string, selector: TrustBundleRef["selector"], optional = false): TrustBundleRef => ({
    ...{ kind: "ClusterTrustBundle", name, selector, optional },
  });

  it("of a signer's bundles each certificate is there once, and of one bundle its own", async () => {
    const all = trust("a.b/c", {});
    const { api, contents: contentSource, settle, shown } = await other(all, "clustertrustbundles", bundles);
    expect(shown()).to.deep.equal({ bundle: pem("AAAA") + pem("BBBB") });
    const before = contentSource.state(all);
    api.remove("clustertrustbundles", "a.b:c:1");
    await settle();
    expect(shown()).to.deep.equal({ bundle: pem("AAAA") });
    expect(contentSource.state(all)).not.to.deep.equal(before);
    expect((await other(trust("x", undefined), "clustertrustbundles", bundles)).shown()).to.deep.equal({
      bundle: pem("XXXX"),
    });
  });

  it("a signer without a selector selects none, and no bundle is enough only where it is optional", async () => {
    const none = trust("a.b/c", "none");
    const { contents: contentSource } = await other(none, "clustertrustbundles", bundles);
    expect(contentSource.state(none).problem).to.include({
      reason: "TrustBundleNotFound",
      message: "there is no ClusterTrustBundle of a.b/c that is selected: create it, or set optional: true",
    });
    const optional = trust("not-there", undefined, true);
    const without = await other(optional, "clustertrustbundles", bundles);
    expect(without.contents.state(optional)).to.deep.equal({ known: true, version: "none" });
  });

  it("bundles that the API server does not serve are not there, also where they are optional", async () => {
    const ref = trust("x", undefined, true);
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    api.fault = () => ({ status: 404, body: "404 page not found\n" });
    const contentSource = new ContentSource({ system, transport: api, onChange: () => {} });
    contentSource.follow([ref]);
    await system.advance(5_000);
    const { known, problem } = contentSource.state(ref);
    expect([known, problem?.reason]).to.deep.equal([false, "TrustBundleNotFound"]);
    expect(problem?.message).to.match(
      /^the API server does not serve certificates\.k8s\.io\/v1beta1.*optional or not$/,
    );
    contentSource.stop();
  });
});
