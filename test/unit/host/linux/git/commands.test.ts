import { expect } from "chai";
import { confined } from "../../../../../src/host/linux/child/confined.ts";
import { environment, fetch, gitArguments, init, list } from "../../../../../src/host/linux/git/commands.ts";

const repository = "https://git.example/app.git";
const revision = "0123456789".repeat(4);

describe("commands of git", () => {
  it("nothing that people name comes before the end of the options", () => {
    expect(fetch({ repository, revision }).slice(-3)).to.deep.equal(["--end-of-options", repository, revision]);
    expect(list({ revision, subdirectory: "-a" }).slice(-2)).to.deep.equal(["--end-of-options", `${revision}:-a`]);
    expect(list({ revision, subdirectory: "" }).at(-1)).to.equal(revision);
  });

  it("the length of the id says what ids the repository has", () => {
    expect(init({ revision })).to.include("--object-format=sha1");
    expect(init({ revision: "abcdef01".repeat(8) })).to.include("--object-format=sha256");
  });

  it("no settings but our own count, and none runs a program", () => {
    const set = gitArguments([]);
    for (const setting of [
      "core.hooksPath=/dev/null",
      "credential.helper=",
      "core.fsmonitor=false",
      "http.followRedirects=false",
    ]) {
      expect(set).to.include(setting);
    }
    expect(environment).to.include({
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ALLOW_PROTOCOL: "http:https",
    });
  });
});

describe("confined", () => {
  it("drops all rights before the command, and dies with its parent", () => {
    const limits = { memoryBytes: 5, fileBytes: 7, network: true };
    const command = confined((name) => `/usr/bin/${name}`, limits, ["/usr/bin/git", "x"]);
    expect(command.slice(0, 3)).to.deep.equal(["/usr/bin/setpriv", "--pdeathsig", "KILL"]);
    expect(command).to.include.members([
      "--fsize=7",
      "--data=5",
      "--kill-child",
      "--no-new-privs",
      "--bounding-set=-all",
    ]);
    expect(command.slice(-2)).to.deep.equal(["/usr/bin/git", "x"]);
  });

  it("has the node's network only if it is to speak with a server", () => {
    const limits = { memoryBytes: 5, fileBytes: 7 };
    const command = (network: boolean) => confined((name) => name, { ...limits, network }, ["git"]);
    expect(command(false)).to.include("--net");
    expect(command(true)).to.not.include("--net");
  });
});
