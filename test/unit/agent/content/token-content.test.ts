import { expect } from "chai";
import { TokenContent } from "../../../../src/agent/content/token-content.ts";
import type { ApiRequest, ApiResponse } from "../../../../src/kube/client/transport.ts";
import { TransportError } from "../../../../src/kube/client/transport.ts";
import type { TokenRef } from "../../../../src/plugins/api/content.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const ref: TokenRef = {
  ...{ kind: "ServiceAccount", namespace: "team", name: "reader", nodeName: "n1" },
  ...{ audience: "vault", expirationSeconds: 3600 },
};

interface Server {
  /** Seconds that a token lives; as asked for if not given. */
  given?: number;
  refuse?: ApiResponse | Error | undefined;
}

const refused = (status: number, message: string) => ({ status, body: { kind: "Status", reason: "R", message } });

/** A token that is followed, under a virtual clock; `server` says what the API server answers. */
function story(of: Partial<TokenRef> = {}, server: Server = {}) {
  const system = virtualSystem();
  const requests: ApiRequest[] = [];
  let changes = 0;
  const request = async (asked: ApiRequest): Promise<ApiResponse> => {
    requests.push(asked);
    if (server.refuse instanceof Error) throw server.refuse;
    if (server.refuse !== undefined) return server.refuse;
    const { spec } = asked.body as { spec: { expirationSeconds: number } };
    const expirationSeconds = server.given ?? spec.expirationSeconds;
    const expirationTimestamp = `end-${requests.length}`;
    return {
      status: 201,
      body: {
        spec: { ...spec, expirationSeconds },
        status: { token: `token-${requests.length}`, expirationTimestamp },
      },
    };
  };
  const transport = { request, stream: () => () => {} };
  const token = new TokenContent({ ...ref, ...of }, { system, transport, onChange: () => changes++ });
  const shown = () => token.get()?.data.get("token")?.toString();
  return { system, token, requests, server, shown, changes: () => changes };
}

const minute = 60_000;

describe("the token of a ServiceAccount", () => {
  it("is asked for once, bound to the Node, for the audience and the life of the spec", async () => {
    const { system, requests, shown } = story();
    await system.advance(minute);
    expect(shown()).to.equal("token-1");
    expect(requests).to.deep.equal([
      {
        method: "POST",
        path: "/api/v1/namespaces/team/serviceaccounts/reader/token",
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: {
            audiences: ["vault"],
            expirationSeconds: 3600,
            boundObjectRef: { apiVersion: "v1", kind: "Node", name: "n1" },
          },
        },
      },
    ]);
  });

  it("is exchanged at 80 % of its life, and nothing is asked between", async () => {
    const { system, requests, shown, token, changes } = story();
    await system.advance(47 * minute);
    expect([requests.length, changes()]).to.deep.equal([1, 1]);
    const before = token.state();
    await system.advance(2 * minute);
    expect([requests.length, shown()]).to.deep.equal([2, "token-2"]);
    expect(token.state()).not.to.deep.equal(before);
  });

  it("is exchanged by the life that the API server gives, not the one that was asked for", async () => {
    const { system, requests } = story({}, { given: 600 });
    await system.advance(7.5 * minute);
    expect(requests.length).to.equal(1);
    await system.advance(minute);
    expect(requests.length).to.equal(2);
  });

  it("is exchanged after a day, however long it lives", async () => {
    const { system, requests } = story({ expirationSeconds: 30 * 24 * 3600 });
    await system.advance(23.9 * 60 * minute);
    expect(requests.length).to.equal(1);
    await system.advance(7 * minute);
    expect(requests.length).to.equal(2);
  });

  it("that is forbidden says which Role is missing, and comes within a minute once there is one", async () => {
    const refuse = refused(403, "cannot create resource serviceaccounts/token");
    const { system, server, token, shown } = story({}, { refuse });
    await system.advance(10 * minute);
    const state = token.state();
    expect(state.known).to.equal(false);
    expect(state.problem?.reason).to.equal("TokenAccessDenied");
    expect(state.problem?.message).to.contain("config/components/token-access").and.contain("cannot create resource");
    expect(state.problem?.on).to.deep.equal({ kind: "ServiceAccount", namespace: "team", name: "reader" });
    server.refuse = undefined;
    await system.advance(minute);
    expect(shown()).to.match(/^token-/);
    expect(token.state().problem).to.equal(undefined);
  });

  it("of an account that is not there says so", async () => {
    const { system, token } = story({}, { refuse: refused(404, 'serviceaccounts "reader" not found') });
    await system.advance(1_000);
    expect(token.state().problem?.reason).to.equal("ServiceAccountNotFound");
  });

  it("stays while another cannot be had, and says why", async () => {
    const { system, server, token, shown } = story();
    await system.advance(minute);
    server.refuse = new TransportError("connection refused");
    await system.advance(50 * minute);
    expect([token.state().known, shown()]).to.deep.equal([true, "token-1"]);
    expect(token.state().problem?.reason).to.equal("ContentUnknown");
    expect(JSON.stringify(token.state())).not.to.contain("token-1");
  });

  it("is asked for no more when nobody shows it", async () => {
    const { system, token, requests } = story();
    await system.advance(minute);
    token.stop();
    await system.advance(24 * 60 * minute);
    expect(requests.length).to.equal(1);
  });
});
