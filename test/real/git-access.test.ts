import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import { commandLines } from "../../hack/lib/command-lines.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { selfSigned } from "../../src/http/self-signed.ts";
import { GitWorld } from "../lib/kernel/agents/git-world.ts";
import { withEach } from "../lib/kernel/with-node.ts";
import { GitServer } from "../lib/servers/git-server.ts";
import { SSHServer } from "../lib/servers/ssh-server.ts";

const password = "pa55:word-of-nobody-else";
const basic = `Basic ${Buffer.from(`reader:${password}`).toString("base64")}`;
const secretRef = { namespace: "team", name: "login" };

describe("git with credentials, on the real kernel", function () {
  this.timeout(60_000); // six processes a fetch, on machines that have others at work
  const certificate = selfSigned("git");
  let world: GitWorld;
  let server: GitServer;
  /** Arguments of all processes while the server is asked, and what it was asked with. */
  let seen: { arguments: string; authorization: (string | undefined)[] };

  withEach(GitWorld, ["git"], async (made) => {
    world = made;
    server = world.node.keep(new GitServer(`${world.node.path}/src`, certificate));
    await server.listen();
    seen = { arguments: "", authorization: [] };
    server.answers = onlyWith(basic);
  });

  const onlyWith = (wanted: string) => (request: IncomingMessage, response: ServerResponse) => {
    const { authorization } = request.headers;
    seen.authorization.push(authorization);
    seen.arguments += [...commandLines().values()].map((words) => words.join("\0")).join("\n");
    if (authorization === wanted) return false;
    response.writeHead(authorization === undefined ? 401 : 403, { "WWW-Authenticate": 'Basic realm="git"' });
    response.end(`no: ${authorization}`);
    return true;
  };
  const secret = (values: { readonly [key: string]: string }) =>
    world.node.secrets.set(secretRef.name, new Map(Object.entries(values)));
  const from = () => ({ repository: server.address("app.git"), secretRef });
  const said = async (revision: string, more: object) => {
    const failure = await world.failure(revision, more);
    return `${failure?.reason}: ${failure?.message}`;
  };

  it("comes by TLS of an authority that the Secret names, with its user and password, and needs neither again", async () => {
    const revision = world.commit(world.file("a", "private"));
    secret({ username: "reader", password: `${password}\n`, "ca.crt": certificate.cert });
    const path = await world.shown(revision, from());
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("private");
    expect(new Set(seen.authorization)).to.deep.equal(new Set([basic]));
    world.node.secrets.clear();
    await world.node.restart();
    await world.shown(revision, from());
  });

  it("keeps the password out of arguments, journal, log and messages, whatever the server says", async () => {
    const revision = world.commit(world.file("a", "private"));
    secret({ username: "reader", password, "ca.crt": certificate.cert });
    server.answers = onlyWith("nobody");
    const failed = await said(revision, from());
    expect(failed).to.match(/^RepositoryRefused: .* lets nobody in with the credentials of the Secret/);
    server.answers = ({ headers }, response) => {
      response.writeHead(500, { "Content-Type": "text/plain" }).end(`fatal: ${headers.authorization} ${password}`);
      return true;
    };
    const echoed = await said(revision, from());
    expect(echoed).to.match(/^ServerUnreachable: remote: fatal: Basic \[redacted\] \[redacted\]/);
    server.answers = onlyWith(basic);
    world.node.forgetFailures();
    await world.shown(revision, from());
    const journal = readFileSync(`${world.node.stateDir}/journal`, "latin1");
    for (const hay of [seen.arguments, journal, world.node.log.join("\n"), failed, echoed]) {
      for (const needle of [password, basic.slice(6)]) expect(hay).not.to.contain(needle);
    }
    expect(seen.arguments, "git was at work").to.contain("fetch\0--progress");
  });

  it("takes a token, sent as one", async () => {
    const revision = world.commit(world.file("a", "x"));
    secret({ bearerToken: "t0ken", "ca.crt": certificate.cert });
    server.answers = onlyWith("Bearer t0ken");
    expect(readdirSync(await world.shown(revision, from()))).to.deep.equal(["a"]);
  });

  it("takes the id of an annotated tag for that of its commit", async () => {
    const commit = world.commit(world.file("a", "x"));
    world.repository.git(["tag", "-a", "-m", "of note", "v1", commit]);
    secret({ username: "reader", password, "ca.crt": certificate.cert });
    const tag = world.repository.git(["rev-parse", "v1"]);
    expect(tag).not.to.equal(commit);
    expect(readdirSync(await world.shown(tag, from()))).to.deep.equal(["a"]);
  });

  it("says nothing to a server that the Secret's authority does not know, and what is wrong", async () => {
    const revision = world.commit();
    const login = { username: "reader", password };
    secret({ ...login, "ca.crt": selfSigned("other").cert });
    expect(await said(revision, from())).to.match(/^ServerUnreachable: .*certificate/);
    expect(seen.authorization).to.deep.equal([]);
    secret({ ...login, "ca.crt": "none" });
    expect(await said(revision, from())).to.match(/^KeyNotFound: the key ca.crt of Secret team\/login must be/);
    secret({ username: "reader" });
    expect(await said(revision, from())).to.match(/^KeyNotFound: the key password of Secret team\/login is needed/);
    secret({ "ca.crt": certificate.cert });
    expect(await said(revision, from())).to.match(/^RepositoryRefused: .* requires credentials: name a Secret/);
  });

  slow("comes by ssh, with a key and from a server that the Secret names, and from nobody else", async function () {
    using ssh = await SSHServer.start(this, `${world.node.path}/ssh`);
    const revision = world.commit(world.file("a", "by ssh"));
    const repository = ssh.address(world.repository.path);
    const more = { repository, secretRef };
    const strange = ssh.knownHosts.replace(/ssh-ed25519 \S+/, ssh.otherPublicKey);
    const login = { "ssh-privatekey": ssh.key.trim(), known_hosts: ssh.knownHosts };
    for (const [values, pattern] of [
      [{ ...login, known_hosts: strange }, /^RepositoryRefused: the server of .* has none of the keys/],
      [{ ...login, "ssh-privatekey": ssh.otherKey }, /^RepositoryRefused: .* lets nobody in with the key/],
      [
        { ...login, "ssh-privatekey": "no key" },
        /^KeyNotFound: the key ssh-privatekey of the Secret is no private key/,
      ],
      [{ "ssh-privatekey": ssh.key }, /^KeyNotFound: the key known_hosts of Secret team\/login is needed for ssh/],
    ] as const) {
      secret(values);
      expect(await said(revision, more)).to.match(pattern);
    }
    secret(login);
    expect(await said(revision, { ...more, repository: `${repository}.none` })).to.match(/^RepositoryRefused: /);
    const nobody = { ...more, repository: repository.replace(/:[0-9]+/, ":1") };
    expect(await said(revision, nobody)).to.match(/^ServerUnreachable: .*refused/);
    world.node.forgetFailures();
    const path = await world.shown(revision, more);
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("by ssh");
    expect(world.data.flatMap((directory) => readdirSync(directory))).to.deep.equal(["tree"]);
  });
});
