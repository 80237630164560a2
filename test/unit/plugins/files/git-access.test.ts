import { expect } from "chai";
import { repositoryAccess } from "../../../../src/plugins/files/git-access.ts";

const secret = { namespace: "team", name: "login" };
const pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
const of = (values: { readonly [key: string]: string }, repository = "https://git.example/app.git") =>
  repositoryAccess(repository, new Map(Object.entries(values)), secret);
const problem = (values: { readonly [key: string]: string }, repository?: string) => {
  try {
    of(values, repository);
    return undefined;
  } catch (error) {
    const { reason, message } = error as { reason: string; message: string };
    return `${reason}: ${message}`;
  }
};

describe("repositoryAccess", () => {
  it("takes the keys that Secrets of Kubernetes have, for the way that the repository is reached", () => {
    const authorization = `Basic ${Buffer.from("me:pass:word").toString("base64")}`;
    expect(of({ username: "me", password: "pass:word\n" })).to.deep.equal({ authorization });
    expect(of({ username: "me", password: "pass:word", "ca.crt": pem })).to.deep.equal({
      authorization,
      authorities: pem,
    });
    expect(of({ bearerToken: "t0ken" })).to.deep.equal({ authorization: "Bearer t0ken" });
    expect(of({ "ca.crt": pem })).to.deep.equal({ authorities: pem });
    const keys = { "ssh-privatekey": "KEY", known_hosts: "git.example ssh-ed25519 AA" };
    const ssh = { key: "KEY", knownHosts: "git.example ssh-ed25519 AA" };
    expect(of({ ...keys, password: "x" }, "ssh://git@git.example/app.git")).to.deep.equal({ ssh });
  });

  for (const [values, repository, key] of [
    [{}, undefined, "username"],
    [{ username: "me" }, undefined, "password"],
    [{ password: "s3cret-word" }, undefined, "username"],
    [{ username: "me:you", password: "s3cret-word" }, undefined, "username"],
    [{ username: "me", password: "s3cret-word\ntwo" }, undefined, "password"],
    [{ bearerToken: "s3cret-word two" }, undefined, "bearerToken"],
    [{ username: "me", password: "s3cret-word", "ca.crt": "s3cret-word" }, undefined, "ca.crt"],
    [{ known_hosts: "h" }, "ssh://git@h/a", "ssh-privatekey"],
    [{ "ssh-privatekey": "s3cret-word" }, "ssh://git@h/a", "known_hosts"],
  ] as const) {
    it(`says that the key ${key} is wrong in ${JSON.stringify(Object.keys(values))}, and nothing of what is in it`, () => {
      const said = problem(values, repository);
      expect(said).to.match(new RegExp(`^KeyNotFound: the key ${key} of Secret team/login `));
      expect(said).not.to.contain("s3cret");
    });
  }
});
