import { expect } from "chai";
import { FakeApi } from "../../../../hack/lib/agent-on-kernel/fake-api.ts";
import { fakeAnswer } from "../../../../hack/lib/fake-answer.ts";
import { asAgentOrNode, isForbidden } from "../../../../src/agent/content/impersonate-node.ts";
import { inOwnNameOnly } from "../../../../src/agent/content/own-name-only.ts";
import { resource } from "../../../../src/api/names.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../../../src/kube/client/transport.ts";

/** Refuses what is asked in the agent's own name. */
class FakeRefusing implements Transport {
  readonly asked: (string | undefined)[] = [];
  async request({ path, asUser }: ApiRequest): Promise<ApiResponse> {
    this.asked.push(asUser);
    return fakeAnswer(path, { status: asUser === undefined ? 403 : 200, body: {} });
  }
  stream({ asUser }: ApiRequest): () => void {
    this.asked.push(asUser);
    return () => {};
  }
}

describe("an agent that asks in its own name only", () => {
  const request = { method: "GET", path: "/api/v1/nodes" } as const;

  it("is refused what was not granted to it, and the API server is not asked as the node", async () => {
    const server = new FakeRefusing();
    const read = (transport: Transport) => {
      const client = createKubeClient({ transport, fieldManager: "" });
      const ref = { namespace: "shop", name: "key" };
      return asAgentOrNode("worker-1", (options) => client.get(resource.secrets, ref, options));
    };
    expect(await read(server), "with the feature").to.include({ kind: "Secret" });
    expect(server.asked.splice(0)).to.deep.equal([undefined, "system:node:worker-1"]);
    const error = await read(inOwnNameOnly(server)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isForbidden(error)).to.equal(true);
    expect(String(error)).to.include("the feature ReadAsNode is off");
    expect(server.asked).to.deep.equal([undefined]);
  });

  it("hears the end of a watch as the node as of a server that refuses it, unless it was cancelled", async () => {
    const server = new FakeRefusing();
    const transport = inOwnNameOnly(server);
    const ends: number[] = [];
    const handlers = {
      onObject() {},
      onEnd: (end: { response?: ApiResponse }) => ends.push(end.response?.status ?? 0),
    };
    transport.stream({ ...request, asUser: "system:node:n" }, handlers)();
    transport.stream({ ...request, asUser: "system:node:n" }, handlers);
    expect(ends, "not before it returns").to.deep.equal([]);
    await Promise.resolve().then(() => {});
    expect(ends).to.deep.equal([403]);
    transport.stream(request, handlers);
    expect(server.asked).to.deep.equal([undefined]);
  });

  it("gives all else on", async () => {
    const answer = await inOwnNameOnly(new FakeApi()).request(request);
    expect(answer.status).to.equal((await new FakeApi().request(request)).status);
  });
});
