import { expect } from "chai";
import { createKubeClient } from "../../../src/kube/client.ts";
import { createTokenAccess } from "../../../src/kube/token-access.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../../src/kube/transport.ts";
import { virtualSystem } from "./virtual-system.ts";

type Review = {
  kind: string;
  spec: { token?: string; user?: string; groups?: string[]; nonResourceAttributes?: object };
};

describe("createTokenAccess", () => {
  /** A fake API server that knows two tokens: `reader`, who may get metrics until `may` is false, and `stranger`. */
  function story() {
    const system = virtualSystem();
    const asked: string[] = [];
    const state = { may: true, down: false, held: undefined as Promise<void> | undefined };
    const answer = ({ kind, spec }: Review) => {
      if (kind === "TokenReview") {
        const authenticated = spec.token === "reader" || spec.token === "stranger";
        return authenticated ? { authenticated, user: { username: spec.token, groups: ["g"] } } : {};
      }
      expect(spec.nonResourceAttributes).to.deep.equal({ path: "/metrics", verb: "get" });
      expect(spec.groups).to.deep.equal(["g"]);
      return { allowed: spec.user === "reader" && state.may };
    };
    const request = async ({ path, body }: ApiRequest): Promise<ApiResponse> => {
      const review = body as Review;
      asked.push(path);
      await state.held;
      if (state.down) return { status: 503, body: { kind: "Status", message: "later" } };
      return { status: 201, body: { ...review, status: answer(review) } };
    };
    const transport = { request } as unknown as Transport;
    const client = createKubeClient({ transport, fieldManager: "test" });
    const access = createTokenAccess({ client, clock: system.clock, path: "/metrics" });
    return { system, asked, state, access };
  }

  it("allows whom the API server knows and lets get the path, and nobody else", async () => {
    const { access, asked } = story();
    expect(await access("reader")).to.equal("allowed");
    expect(await access("stranger")).to.equal("forbidden");
    expect(await access("made-up")).to.equal("unauthenticated");
    const [tokens, users] = [
      "/apis/authentication.k8s.io/v1/tokenreviews",
      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    ];
    expect(asked).to.deep.equal([tokens, users, tokens, users, tokens]);
  });

  it("asks again after a minute, of who was refused after ten seconds", async () => {
    const { system, asked, state, access } = story();
    await access("reader");
    await access("stranger");
    state.may = false;
    await system.advance(9_000);
    expect([await access("reader"), await access("stranger"), asked.length]).to.deep.equal(["allowed", "forbidden", 4]);
    await system.advance(2_000);
    await access("stranger");
    expect(asked).to.have.length(6);
    await system.advance(50_000);
    expect(await access("reader")).to.equal("forbidden");
  });

  it("asks once for a token that several show at once", async () => {
    const { asked, access } = story();
    expect(await Promise.all([access("reader"), access("reader")])).to.deep.equal(["allowed", "allowed"]);
    expect(asked).to.have.length(2);
  });

  it("asks no more than four things at once, and says so", async () => {
    const { asked, state, access } = story();
    let go = () => {};
    state.held = new Promise((resolve) => {
      go = resolve;
    });
    const first = [1, 2, 3, 4].map((i) => access(`made-up-${i}`));
    expect(await access("reader")).to.equal("busy");
    expect(asked).to.have.length(4);
    go();
    await Promise.all(first);
    expect(await access("reader")).to.equal("allowed");
  });

  it("knows nobody new while there is no answer, remembers no failure, and goes on with who was allowed", async () => {
    const { state, access } = story();
    await access("reader");
    state.down = true;
    expect(await access("reader")).to.equal("allowed");
    expect(await access("stranger").catch((error: Error) => error.name)).to.equal("ApiError");
    state.down = false;
    expect(await access("stranger")).to.equal("forbidden");
  });
});
