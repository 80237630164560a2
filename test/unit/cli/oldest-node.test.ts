import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parsePath } from "../../../hack/lib/api-path.ts";
import { buildCli, oldestNode } from "../../../hack/lib/bundle-cli.ts";
import { fakeAnswer } from "../../../hack/lib/fake-answer.ts";
import { lanes } from "../../../hack/lib/lanes/lanes.ts";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { root } from "../../../hack/lib/root.ts";
import { until } from "../../../hack/lib/until.ts";
import { selfSigned } from "../../../src/http/self-signed.ts";
import { ownNode } from "../../lib/kernel/own-node.ts";

const set = {
  metadata: { name: "datasets", generation: 1, resourceVersion: "1" },
  spec: { volume: { source: { emptyDir: {} } }, mounts: [] },
  status: {
    observedGeneration: 1,
    desired: 2,
    ready: 1,
    conditions: [{ type: "Ready", status: "False", reason: "NodesNotReady", message: "1 of 2" }],
  },
};
const intent = {
  metadata: { name: "n.datasets", uid: "u", resourceVersion: "1" },
  spec: { nodeName: "n", nodeUID: "n", volumeName: "datasets", mode: "Manage", source: { emptyDir: {} }, mounts: [] },
};

describe("kubectl-nvi on the machine's own Node", function () {
  this.timeout(60_000);
  let directory: string;
  let server: Server;
  let bundle: string;
  let program: string;
  const children: ChildProcess[] = [];

  before(async function () {
    const node = ownNode();
    if (node === undefined || node.major < oldestNode) {
      skipBecause(this, `needs a Node of the machine's own, ${oldestNode} or newer, in PATH`);
    }
    console.log(`      it is ${node.version}; ${oldestNode} is promised`);
    program = node.path;
    bundle = (await buildCli()).path;
    directory = mkdtempSync(join(tmpdir(), "nodevolume-oldest-node-"));
    const { key, cert } = selfSigned("fake API server");
    server = createServer({ key, cert }, fakeAPI).listen(0, "127.0.0.1");
    await until("the fake API server", 10_000, () => server.listening);
    const { port } = server.address() as AddressInfo;
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "fake",
      clusters: [
        { name: "fake", cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority-data": btoa(cert) } },
      ],
      users: [{ name: "fake", user: { token: "none" } }],
      contexts: [{ name: "fake", context: { cluster: "fake", user: "fake" } }],
    };
    writeFileSync(join(directory, "kubeconfig"), JSON.stringify(config));
  });
  after(() => {
    for (const child of children) child.kill("SIGKILL");
    server?.closeAllConnections();
    server?.close();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  });

  /** Lists have what they have, and watches say that, if it is asked for, and nothing more. */
  function fakeAPI({ url = "" }: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    const { pathname, searchParams } = new URL(url, "http://fake");
    const items = pathname.includes("nodevolumesets") ? [set] : pathname.includes("nodevolumeintents") ? [intent] : [];
    if (!searchParams.has("watch")) {
      const name = parsePath(pathname)?.name;
      const body = pathname.endsWith("/datasets") ? set : name === undefined ? { items } : { metadata: { name } };
      response.end(JSON.stringify(fakeAnswer(pathname, { status: 200, body }).body));
      return;
    }
    response.flushHeaders();
    if (!searchParams.has("sendInitialEvents")) return;
    const metadata = { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } };
    const events = items.map((object): object => ({ type: "ADDED", object }));
    for (const event of [...events, { type: "BOOKMARK", object: { metadata } }])
      response.write(`${JSON.stringify(event)}\n`);
  }

  function start(...args: string[]) {
    const env = { KUBECONFIG: join(directory, "kubeconfig"), HOME: directory };
    const child = spawn(program, [bundle, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    return { child, ended, said: () => said };
  }

  it("waits, by a watch, and says why", async () => {
    const wait = start("wait", "datasets", "--timeout", "1s");
    const code = await wait.ended;
    expect(wait.said()).to.include("waiting: 1 of 2 nodes are ready").and.include("is not ready after 1s");
    expect(code).to.equal(1);
  });

  it("shows volumes with -w until Ctrl-C", async () => {
    const volumes = start("volumes", "-w");
    await until(
      "the table",
      20_000,
      () => /^n +\S+ +datasets/m.test(volumes.said()) || volumes.child.exitCode !== null,
    );
    volumes.child.kill("SIGINT");
    expect(await volumes.ended, volumes.said()).to.equal(130);
  });

  for (const args of [
    ["volumes"],
    ["diff"],
    ["plan"],
    ["orphans"],
    ["explain", "datasets"],
    ["history", "datasets"],
    ["check"],
    ["check", "--pre"],
  ])
    it(`${args.join(" ")} ends as on a newer Node`, async () => {
      const { ended, said } = start(...args);
      const code = await ended;
      expect([0, 1], said()).to.include(code);
      expect(said()).not.to.match(/is not a function|is not defined|SyntaxError/);
    });
});

/** Of the language's library, what a Node has. */
const libraryOf: { readonly [major: number]: readonly string[] } = { 20: ["es2023", "es2024.string"] };

describe("the Node that is promised", () => {
  const text = (path: string) => readFileSync(join(root, path), "utf8");

  it("is one number in package.json, README, the page of the command line, setup and the manifest for krew", () => {
    const { engines } = JSON.parse(text("package.json")) as { engines: { node: string } };
    expect(engines.node).to.equal(`>=${oldestNode}`);
    for (const [path, words] of [
      ["README.md", `Node ≥ ${oldestNode}`],
      ["CONTRIBUTING.md", `Node ≥ ${oldestNode}`],
      ["docs/kubectl-nvi.md", `needs Node ${oldestNode} or newer`],
      ["hack/setup.sh", `own Node (${oldestNode} or newer)`],
      ["hack/release/krew.ts", `Needs Node.js ${oldestNode} or later`],
    ] as const)
      expect(text(path), path).to.include(words);
  });

  it("is what the sources of the command line are checked against: the lane types knows no method that came later", () => {
    const { compilerOptions } = JSON.parse(text("src/cli/tsconfig.json")) as { compilerOptions: { lib: string[] } };
    expect(compilerOptions.lib).to.deep.equal(libraryOf[oldestNode]);
    const types = lanes.find(({ name }) => name === "types");
    expect(JSON.stringify(types?.work)).to.include("tsc --noEmit -p src/cli");
  });

  it("is enough for every npm script of a fresh clone: setup brings the Node that the script runs on", () => {
    const { scripts } = JSON.parse(text("package.json")) as { scripts: { [name: string]: string } };
    const own = Object.keys(scripts).filter((name) => !name.startsWith("pre"));
    expect(own).to.have.length.greaterThan(5);
    for (const name of own) expect(scripts[`pre${name}`], `pre${name}`).to.equal("sh hack/setup.sh");
  });
});
