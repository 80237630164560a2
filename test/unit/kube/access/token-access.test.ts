import { expect } from "chai";
import { createTokenAccess } from "../../../../src/kube/access/token-access.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../../../src/kube/client/transport.ts";
import { virtualSystem } from "../virtual-system.ts";

type Review = {
  kind: string;
  spec: { token?: string; audiences?: string[]; user?: string; groups?: string[]; nonResourceAttributes?: object };
};

describe("createTokenAccess", () => {
  /**
   * A fake API server that knows two tokens: `reader`, who may get metrics until `may` is false, and `stranger`. Both
   * are of its own audience; TOKEN@AUDIENCE is of another.
   */
  function story(audience?: string) {
    const system = virtualSystem();
    const asked: string[] = [];
    const state = {
      ...{ may: true, down: false, unaware: false },
      ...{ held: undefined as Promise<void> | undefined, answers: undefined as string[] | undefined },
    };
    const answer = ({ kind, spec }: Review) => {
      if (kind === "TokenReview") {
        const [username = "", of = "api"] = (spec.token ?? "").split("@");
        const wanted = spec.audiences ?? ["api"];
        const authenticated = ["reader", "stranger"].includes(username) && (wanted.includes(of) || state.unaware);
        const audiences = state.unaware ? {} : { audiences: state.answers ?? [of] };
        return authenticated ? { authenticated, user: { username, groups: ["g"] }, ...audiences } : {};
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
    const of = createTokenAccess({ client, clock: system.clock, path: "/metrics", audience });
    const access = (token: string, from = "10.0.0.1") => of(token, from);
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

  it("with an audience takes tokens of that alone, and none of the API server's own", async () => {
    const { access } = story("metrics");
    expect(await access("reader@metrics")).to.equal("allowed");
    expect(await access("stranger@metrics")).to.equal("forbidden");
    for (const token of ["reader", "reader@another"]) expect(await access(token)).to.equal("unauthenticated");
    const without = story();
    expect(await without.access("reader@metrics")).to.equal("unauthenticated");
  });

  it("with an audience takes nobody's word who does not say it: such a token may be good for the API server", async () => {
    const { access, state } = story("metrics");
    state.unaware = true;
    expect(await access("reader")).to.equal("unauthenticated");
    state.unaware = false;
    for (const answers of [[], ["api"]]) {
      state.answers = answers;
      expect(await access(`reader@metrics@${answers.length}`)).to.equal("unauthenticated");
    }
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
    expect(await access("reader", "10.0.0.2")).to.equal("limited");
    expect(asked).to.have.length(4);
    go();
    await Promise.all(first);
    expect(await access("reader", "10.0.0.2")).to.equal("allowed");
  });

  it("reviews five strange tokens of an address, one more after five seconds, and those of others still", async () => {
    const { system, asked, access } = story();
    const show = async (from: string, names: readonly string[]) => {
      const said: string[] = [];
      for (const name of names) said.push(await access(name, from));
      return said;
    };
    const [no, limited] = ["unauthenticated", "limited"];
    expect(await show("10.0.0.1", ["a", "b", "c", "d", "e", "f"])).to.deep.equal([no, no, no, no, no, limited]);
    expect(await access("reader", "10.0.0.2"), "of another address").to.equal("allowed");
    await system.advance(4_000);
    expect(await show("10.0.0.1", ["f"])).to.deep.equal([limited]);
    await system.advance(1_000);
    expect(await show("10.0.0.1", ["f", "g"])).to.deep.equal([no, limited]);
    expect(asked).to.have.length(8);
  });

  it("reviews twenty strange tokens of all addresses together, and one more each second", async () => {
    const { system, asked, access } = story();
    for (let i = 0; i < 300; i += 1) await access(`made-up-${i}`, `10.0.1.${i}`);
    expect(asked).to.have.length(20);
    expect(await access("reader", "10.0.0.2")).to.equal("limited");
    await system.advance(1_000);
    expect(await access("reader", "10.0.0.2")).to.equal("allowed");
    for (let i = 0; i < 600; i += 1) {
      await system.advance(100);
      await access(`late-${i}`, `10.0.${2 + Math.floor(i / 250)}.${i % 250}`);
    }
    expect(asked.length - 22, "in a minute").to.be.within(59, 60);
  });

  it("reviews who was allowed before whatever others show, and however long ago", async () => {
    const { system, asked, state, access } = story();
    let go = () => {};
    await access("reader");
    for (let i = 0; i < 600; i += 1) {
      await system.advance(1_000);
      await access(`made-up-${i}`, `10.0.1.${i % 250}`);
    }
    expect(asked, "more refusals than are remembered").to.have.length(602);
    for (let i = 0; i < 20; i += 1) await access(`late-${i}`, `10.0.2.${i}`);
    state.held = new Promise((resolve) => {
      go = resolve;
    });
    const before = asked.length;
    const renewed = access("reader");
    expect(asked).to.have.length(before + 1);
    go();
    expect(await renewed).to.equal("allowed");
  });

  it("does not prefer who is refused now", async () => {
    const { system, state, access } = story();
    await access("reader");
    state.may = false;
    await system.advance(60_000);
    expect(await access("reader")).to.equal("forbidden");
    for (let i = 0; i < 20; i += 1) await access(`made-up-${i}`, `10.0.1.${i}`);
    await system.advance(10_000);
    for (let i = 0; i < 20; i += 1) await access(`late-${i}`, `10.0.2.${i}`);
    expect(await access("reader")).to.equal("limited");
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
