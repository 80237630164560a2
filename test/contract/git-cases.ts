import { readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import { type SelfSigned, selfSigned } from "../../src/http/self-signed.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { GitServer, TestRepository } from "../lib/servers/git-server.ts";
import type { Case } from "./case.ts";
import { versionOf } from "./parts.ts";

const secretRef = { namespace: "team", name: "login" };
const login = (password: string) =>
  new Map(Object.entries({ username: "reader", password, "ca.crt": certificate.cert }));
const basic = (password: string) => Buffer.from(`reader:${password}`).toString("base64");
const certificate = selfSigned("git");
const [password, wrong] = ["pa55-word-of-the-contract", "wr0ng-word-of-the-contract"];

const plain = {
  needs: ["git"],
  shows(path: string) {
    expect(readFileSync(`${path}/run`, "utf8")).to.equal("value");
    expect(statSync(`${path}/run`).mode & 0o777).to.equal(0o755);
  },
  keepsData: false,
  readOnly: true,
} as const satisfies Partial<Case>;

/** By git's own server: for everybody, and for who has a password, by TLS. */
export const gitCases: readonly Case[] = [
  {
    ...plain,
    title: "git",
    async source(node) {
      const { server, revision } = await serve(node);
      return { git: { repository: server.address("app.git"), revision } };
    },
    parts: () => ({ client: versionOf("git", "--version"), server: "git http-backend of the same" }),
  },
  {
    ...plain,
    title: "git with a Secret",
    async source(node) {
      const { server, revision } = await serve(node, certificate);
      server.answers = ({ headers }, response) => {
        if (headers.authorization === `Basic ${basic(password)}`) return false;
        response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"', "Content-Type": "text/plain" });
        response.end(`fatal: not with ${headers.authorization}`);
        return true;
      };
      node.secrets.set(secretRef.name, login(password));
      return { git: { repository: server.address("app.git"), revision, secretRef } };
    },
    secrets: [password, basic(password)],
    refuses(node) {
      node.secrets.set(secretRef.name, login(wrong));
      return [wrong, basic(wrong)];
    },
    cutOffs: "some",
    parts: () => ({
      client: versionOf("git", "--version"),
      server: "git http-backend of the same, by TLS with a password",
    }),
  },
];

async function serve(node: RealNode, tls?: SelfSigned) {
  const repository = new TestRepository(`${node.path}/src/app.git`);
  const object = repository.blob("value");
  const revision = repository.commit(repository.tree([{ mode: "100755", name: "run", object }]));
  const server = node.keep(new GitServer(`${node.path}/src`, tls));
  await server.listen();
  return { server, revision };
}
