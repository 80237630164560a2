import { expect } from "chai";
import { registryAccess } from "../../../../src/plugins/files/image-access.ts";

const digest = `sha256:${"0".repeat(64)}`;
const secret = { namespace: "team", name: "pull" };
const basic = (pair: string) => Buffer.from(pair).toString("base64");
const of = (auths: object, image = "registry.example/team/model:v1") =>
  registryAccess(`${image}@${digest}`, new Map([[".dockerconfigjson", JSON.stringify({ auths })]]), secret)
    .authorization;

describe("registryAccess", () => {
  it("takes the entry of the registry, however it is written", () => {
    const auth = basic("me:word");
    for (const address of [
      "registry.example",
      "https://registry.example",
      "https://registry.example/v2/",
      "*.example",
    ]) {
      expect(of({ [address]: { auth }, "other.example": { auth: basic("a:b") } }), address).to.equal(`Basic ${auth}`);
    }
    expect(of({ "registry.example": { username: "me", password: "word" } })).to.equal(`Basic ${auth}`);
    expect(of({ "registry.example": { registrytoken: "t0ken" } })).to.equal("Bearer t0ken");
    expect(of({ "https://index.docker.io/v1/": { auth } }, "docker.io/library/busybox")).to.equal(`Basic ${auth}`);
  });

  it("takes the longest address that is the beginning of the image's", () => {
    const [all, team, model] = [basic("all:w"), basic("team:w"), basic("model:w")];
    const auths = {
      "registry.example": { auth: all },
      "registry.example/team/model": { auth: model },
      "registry.example/team": { auth: team },
    };
    expect(of(auths)).to.equal(`Basic ${model}`);
    expect(of(auths, "registry.example/team/other")).to.equal(`Basic ${team}`);
    expect(of(auths, "registry.example/teams/other")).to.equal(`Basic ${all}`);
  });

  it("says what is missing, and nothing of what is there", () => {
    const said = (values: { readonly [key: string]: string }) => {
      try {
        registryAccess(`registry.example/model@${digest}`, new Map(Object.entries(values)), secret);
        return undefined;
      } catch (error) {
        const { reason, message } = error as { reason: string; message: string };
        return `${reason}: ${message}`;
      }
    };
    const key = "KeyNotFound: the key .dockerconfigjson of Secret team/pull";
    expect(said({})).to.equal(
      `${key} is needed, as Secrets of kubernetes.io/dockerconfigjson have it, or ca.crt alone`,
    );
    for (const text of ["s3cret", "null", '{"auths": "s3cret"}']) {
      expect(said({ ".dockerconfigjson": text }), text).to.equal(`${key} must be JSON with auths`);
    }
    const entry = (value: unknown) => said({ ".dockerconfigjson": JSON.stringify({ auths: value }) });
    expect(entry({ "registry.example:5000": { auth: "s3cret" } })).to.equal(`${key} has no entry for registry.example`);
    for (const value of [{}, { auth: "s3cret" }, { username: "s3cret" }, { password: "s3cret" }, "s3cret"]) {
      expect(entry({ "registry.example": value }))
        .to.match(/ has for registry.example neither auth, nor/)
        .and.not.contain("s3cret");
    }
  });
});
