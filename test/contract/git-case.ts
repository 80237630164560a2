import { readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import { GitServer, TestRepository } from "../lib/git-server.ts";
import type { Case } from "./case.ts";
import { versionOf } from "./parts.ts";

/** By git's own server. */
export const gitCase: Case = {
  title: "git",
  needs: ["git"],
  async source(node) {
    const repository = new TestRepository(`${node.path}/src/app.git`);
    const object = repository.blob("value");
    const revision = repository.commit(repository.tree([{ mode: "100755", name: "run", object }]));
    const server = node.keep(new GitServer(`${node.path}/src`));
    await server.listen();
    return { git: { repository: server.address("app.git"), revision } };
  },
  shows(path) {
    expect(readFileSync(`${path}/run`, "utf8")).to.equal("value");
    expect(statSync(`${path}/run`).mode & 0o777).to.equal(0o755);
  },
  keepsData: false,
  parts: () => ({ client: versionOf("git", "--version"), server: "git http-backend of the same" }),
  readOnly: true,
};
