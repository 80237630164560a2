import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { selfSigned } from "../../src/http/self-signed.ts";
import { need } from "../lib/asserts/requirements.ts";
import { RealNode } from "../lib/kernel/real-node.ts";
import type { Described } from "../lib/servers/contract-registry.ts";
import { DebianRegistry } from "../lib/servers/debian-registry.ts";
import { TokenService } from "../lib/servers/token-service.ts";

const architecture = process.arch === "x64" ? "amd64" : process.arch;
const secretRef = { namespace: "team", name: "pull" };
const password = "pa55:word-of-nobody-else";
const auth = Buffer.from(`reader:${password}`).toString("base64");
/** bcrypt, which the registry wants. */
const htpasswd = "reader:$2b$04$zE03eOIwcWWjGL0WbHgkeuBorIcMB7EaUVhJODkC2ZvH7hj3s2yXW\n";

describe("images, on the real kernel, from Debian's docker-registry", function () {
  this.timeout(60_000); // on machines that have others at work
  const certificate = selfSigned("registry");
  let node: RealNode;
  /** Of the index of an image for this machine and another. */
  let index: Described;
  let open: DebianRegistry;

  before(function () {
    need(this, "root");
  });
  beforeEach(async function () {
    node = new RealNode();
    const from = `${node.path}/src/from`;
    mkdirSync(from);
    writeFileSync(`${from}/model`, "weights");
    open = node.keep(await DebianRegistry.start(this, `${node.path}/src/registry`));
    const image = await open.pushImage(execFileSync("tar", ["-C", from, "-cz", "."]));
    index = await open.pushIndex({ ...image, architecture: "s390x" }, { ...image, architecture });
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const closed = (context: Mocha.Context, letsIn: Parameters<typeof DebianRegistry.start>[2]) =>
    DebianRegistry.start(context, `${node.path}/src/registry`, { certificate, ...letsIn }).then((one) =>
      node.keep(one),
    );
  const secret = (values: { readonly [key: string]: string }) =>
    node.secrets.set(secretRef.name, new Map(Object.entries(values)));
  const login = (registry: DebianRegistry, entry: object) =>
    secret({
      ".dockerconfigjson": JSON.stringify({ auths: { [`127.0.0.1:${registry.port}`]: entry } }),
      "ca.crt": certificate.cert,
    });
  const tried = async (registry: DebianRegistry, more: object = {}) => {
    node.forgetFailures();
    const source = { image: { reference: registry.reference(index), ...more } };
    node.want(intent({ source, mounts: [{ path: node.target("model") }] }));
    const { failure } = await node.volume(asVolumeName("node.volume-1"));
    return failure && `${failure.reason}: ${failure.message}`;
  };
  const shows = () => expect(readFileSync(`${node.target("model")}/model`, "utf8")).to.equal("weights");

  it("comes without credentials, where anybody is let in", async () => {
    expect(await tried(open)).to.equal(undefined);
    shows();
  });

  it("comes by TLS of an authority that the Secret names, with its user and password, which nobody else sees", async function () {
    const registry = await closed(this, { letsIn: { htpasswd } });
    expect(await tried(registry)).to.match(/^(ServerUnreachable|RepositoryRefused): /);
    secret({ "ca.crt": certificate.cert });
    const anybody = await tried(registry, { secretRef });
    expect(anybody).to.match(/^RepositoryRefused: .* answers 401 .* name a Secret with credentials/);
    login(registry, { username: "reader", password: "wrong-password" });
    const wrong = await tried(registry, { secretRef });
    expect(wrong).to.match(/^RepositoryRefused: .* answers 401 .* correct the credentials/);
    secret({ ".dockerconfigjson": JSON.stringify({ auths: { "other.example": { auth } } }) });
    expect(await tried(registry, { secretRef })).to.match(/^KeyNotFound: .* has no entry for 127.0.0.1/);
    login(registry, { auth });
    expect(await tried(registry, { secretRef })).to.equal(undefined);
    shows();
    const journal = readFileSync(`${node.stateDir}/journal`, "latin1");
    for (const hay of [journal, node.log.join("\n"), wrong ?? ""]) {
      for (const needle of [password, auth, "wrong-password"]) expect(hay).not.to.contain(needle);
    }
  });

  it("comes with a token of the service that the registry sends to, which is told the credentials", async function () {
    const tokens = node.keep(new TokenService(certificate, `Basic ${auth}`));
    await tokens.listen();
    const registry = await closed(this, { letsIn: { token: { realm: tokens.realm, root: certificate.cert } } });
    login(registry, { username: "somebody", password });
    expect(await tried(registry, { secretRef })).to.match(/^RepositoryRefused: .* gives no token \(.* answers 401\)/);
    login(registry, { username: "reader", password });
    expect(await tried(registry, { secretRef })).to.equal(undefined);
    shows();
    expect(tokens.asked).to.deep.equal([
      `Basic ${Buffer.from(`somebody:${password}`).toString("base64")}`,
      `Basic ${auth}`,
    ]);
    expect(readdirSync(`${node.stateDir}/data`)).to.have.length(1);
  });
});
