import { expect } from "chai";
import { fetchEnvironment, secretFiles, secretsIn } from "../../../../../src/host/linux/git/access.ts";

const https = "https://git.example/app.git";

describe("access to repositories", () => {
  it("says who asks to that address alone, and nothing where nothing is to be said", () => {
    const env = fetchEnvironment({ repository: https, access: { authorization: "Bearer t0ken", authorities: "PEM" } });
    expect(env).to.include({
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_0: `http.${https}.extraHeader`,
      GIT_CONFIG_VALUE_0: "Authorization: Bearer t0ken",
      GIT_CONFIG_KEY_1: "http.sslCAInfo",
      GIT_ALLOW_PROTOCOL: "http:https",
    });
    expect(fetchEnvironment({ repository: https })).to.include({ GIT_CONFIG_COUNT: "0" });
    expect(secretFiles()).to.deep.equal(new Map());
  });

  it("lets ssh believe nobody but who is known, and ask nobody", () => {
    const access = { ssh: { key: "KEY", knownHosts: "HOSTS" } };
    const env = fetchEnvironment({ repository: "ssh://git@git.example/app.git", access });
    expect(env).to.include({ GIT_ALLOW_PROTOCOL: "ssh" });
    for (const option of [
      "BatchMode=yes",
      "StrictHostKeyChecking=yes",
      "IdentityAgent=none",
      "GlobalKnownHostsFile=none",
    ]) {
      expect(env["GIT_SSH_COMMAND"]).to.contain(` -o ${option}`);
    }
    expect(JSON.stringify(env)).not.to.contain("KEY");
    expect([...secretFiles(access)].map(([name]) => name)).to.deep.equal([
      "/secrets/key",
      "/secrets/known-hosts",
      "/etc/passwd",
    ]);
    expect(secretFiles(access).get("/secrets/key"), "with an end").to.equal("KEY\n");
  });

  it("knows in which forms its secrets may come back", () => {
    const value = Buffer.from("me:pass:word").toString("base64");
    expect(secretsIn({ authorization: `Basic ${value}` })).to.deep.equal([value, "pass:word"]);
    expect(secretsIn({ authorization: "Bearer t0ken" })).to.include("t0ken");
    expect(secretsIn({ ssh: { key: "BEGIN\nAAAA\n", knownHosts: "" } })).to.deep.equal(["BEGIN\nAAAA\n"]);
    expect(secretsIn()).to.deep.equal([]);
  });
});
