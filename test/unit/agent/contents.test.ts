import { expect } from "chai";
import { Contents } from "../../../src/agent/contents.ts";
import { createFakeApiServer } from "../fake-api-server.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

const ref = { kind: "Secret", namespace: "team", name: "key", optional: false } as const;

/** One Secret that is followed, on a fake API server under a virtual clock. */
async function story() {
  const system = virtualSystem();
  const api = createFakeApiServer(system.timers);
  const put = (data: object, annotations: { [key: string]: string } = {}) =>
    api.apply("secrets", { metadata: { namespace: "team", name: "key", annotations }, data } as never);
  put({ password: "b25l" });
  let changes = 0;
  const contents = new Contents({ system, transport: api, onChange: () => changes++ });
  contents.follow([ref]);
  const settle = (ms = 1_000) => system.advance(ms);
  await settle();
  return { api, contents, put, settle, changes: () => changes };
}

describe("Contents", () => {
  it("what changes beside the data is no new version", async () => {
    const { contents, put, settle } = await story();
    const first = contents.state(ref);
    expect(first.known).to.equal(true);
    put({ password: "b25l" }, { touched: "1" });
    await settle();
    expect(contents.state(ref)).to.deep.equal(first);
    put({ password: "dHdv" });
    await settle();
    expect(contents.state(ref)).not.to.deep.equal(first);
    put({ password: "dHdv", more: "" });
    await settle();
    expect(contents.get(ref)?.data.size).to.equal(2);
  });

  it("a Role that is taken away later: what was read stays known, and the reason is told, until it is given back", async () => {
    const { api, contents, settle } = await story();
    api.fault = ({ path }) => (path.includes("secrets") ? { status: 403 } : undefined);
    api.breakWatches("close");
    await settle(15_000);
    const denied = contents.state(ref);
    expect(denied.known).to.equal(true);
    expect(denied.problem?.reason).to.equal("SecretAccessDenied");
    expect(denied.problem?.on).to.deep.equal({ kind: "Secret", namespace: "team", name: "key" });
    api.fault = () => undefined;
    await settle(15_000);
    expect(contents.state(ref).problem).to.equal(undefined);
  });

  it("an object that never could be read is not known, and the reason is told", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    api.fault = () => ({ status: 403 });
    const contents = new Contents({ system, transport: api, onChange: () => {} });
    contents.follow([ref]);
    await system.advance(5_000);
    expect(contents.state(ref)).to.deep.include({ known: false });
    expect(contents.state(ref).problem?.reason).to.equal("SecretAccessDenied");
    contents.stop();
  });
});
