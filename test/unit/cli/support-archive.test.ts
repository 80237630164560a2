import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { resource } from "../../../src/api/names.ts";
import { findAll } from "../../../src/cli/support-bundle/asking.ts";
import { Bundle } from "../../../src/cli/support-bundle/bundle.ts";
import { chosenPods, type OurPod } from "../../../src/cli/support-bundle/pods.ts";
import { redactSecrets } from "../../../src/cli/support-bundle/redact-secrets.ts";
import { tarOf } from "../../../src/cli/support-bundle/tar.ts";
import type { ApiRequest, Transport } from "../../../src/kube/client/transport.ts";

describe("the archive", () => {
  it("is cut nowhere: what is too much is left out and said", () => {
    const bundle = new Bundle(10);
    expect(bundle.add("a", "12345678")).to.equal(true);
    expect(bundle.add("b", "123")).to.equal(false);
    expect(bundle.add("c", "12")).to.equal(true);
    expect(bundle.list().map(({ path }) => path)).to.deep.equal(["a", "c"]);
    expect(bundle.gaps).to.deep.equal([{ what: "b", why: "it has 3 bytes, and the archive would have more than 10" }]);
  });

  it("has the first objects of a list that is too long, page by page, and says so", async () => {
    const pages: { readonly [token: string]: object } = {
      "": { metadata: { continue: "2" }, items: [{ n: 1 }, { n: 2 }] },
      "2": { metadata: {}, items: [{ n: 3 }] },
    };
    const transport = {
      request: async ({ query }: ApiRequest) => ({ status: 200, body: pages[query?.["continue"] ?? ""] }),
    } as unknown as Transport;
    expect(await findAll(transport, resource.sets)).to.deep.equal({ items: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    const few = await findAll(transport, resource.sets, {}, 15);
    expect(few.items).to.have.length(2);
    expect(few.gap).to.equal("the first 2 alone: all have more than 15 bytes");
  });

  it("takes logs of agents in trouble first", () => {
    const pod = (name: string, more: Partial<OurPod> = {}): OurPod => {
      return {
        name,
        node: name,
        role: "agent",
        containers: [{ name: "agent", restarts: 0 }],
        port: 1,
        ready: true,
        ...more,
      };
    };
    const again = { containers: [{ name: "agent", restarts: 3 }] };
    const all = [pod("a"), pod("b", again), pod("c", { ready: false }), pod("d"), pod("z", { role: "controller" })];
    const { chosen, leftOut } = chosenPods(all, undefined, 3);
    expect(chosen.map(({ name }) => name)).to.deep.equal(["z", "c", "b", "a"]);
    expect(leftOut).to.deep.equal(["d"]);
  });

  it("says long paths in two halves, and refuses what the format cannot say", () => {
    const long = `${"d".repeat(120)}/${"n".repeat(90)}`;
    expect(() => tarOf([{ path: "n".repeat(101), content: Buffer.from("") }], 0)).to.throw(RangeError);
    const listed = execFileSync("tar", ["-t"], { input: tarOf([{ path: long, content: Buffer.from("x") }], 0) });
    expect(String(listed)).to.equal(`${long}\n`);
  });

  it("takes out what is called a secret, however it is called and written", () => {
    for (const [text, swept] of [
      ["dbPassword=x1 next", "dbPassword=[redacted] next"],
      ['{"dbPassword":"x1","a":"b"}', '{"dbPassword":"[redacted]","a":"b"}'],
      ["password2=x1", "password2=[redacted]"],
      ["AWS_SECRET_ACCESS_KEY=x1", "AWS_SECRET_ACCESS_KEY=[redacted]"],
      [String.raw`"password": "x1\"x2", "a"`, '"password": "[redacted]", "a"'],
      [String.raw`{\"auth.token\":\"x1\"}`, String.raw`{\"auth.token\":\"[redacted]\"}`],
    ])
      expect(redactSecrets(text ?? "")).to.equal(swept);
  });

  it("keeps words that only sound like secrets", () => {
    for (const text of [
      "the token cannot be read: EACCES",
      "SecretAccessDenied: the agent may not read secrets in namespace shop",
      '"secretRef":{"name":"key","namespace":"shop"}',
      '"passwordFile":"/etc/x"',
      "ssh://git@git.example/repo.git",
      "docker-pullable://img@sha256:00",
    ])
      expect(redactSecrets(text)).to.equal(text);
  });
});
