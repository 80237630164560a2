import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { buildBundles } from "../../hack/lib/bundle.ts";
import { bundlesIn, readDockerfile, type Target } from "../../hack/lib/image/dockerfile.ts";
import { revisionOf } from "../../hack/lib/revision.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { version } from "../../src/version.ts";
import { need } from "../lib/asserts/requirements.ts";

describe("the images", () => {
  let directory: string;
  let children: ChildProcess[] = [];

  before(async function () {
    need(this, "root");
    await buildBundles();
    // What the Dockerfile copies, and nothing else: a bundle that still reaches for a package fails here.
    directory = mkdtempSync(join(tmpdir(), "nodevolume-image-"));
    for (const target of ["controller", "agent"] as const)
      for (const name of bundlesIn(readDockerfile(), target))
        cpSync(join(root, `dist/${name}.cjs`), join(appOf(target), `${name}.cjs`));
    for (const name of ["koffi", "@koromix"])
      cpSync(join(root, "node_modules", name), join(appOf("agent"), "node_modules", name), { recursive: true });
  });
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children = [];
  });

  const appOf = (target: Target) => join(directory, target);
  const start = (target: Target, ...args: string[]) => {
    const child = spawn(process.execPath, [join(appOf(target), "main.cjs"), ...args], {
      cwd: "/",
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    return { output: () => output, ended };
  };

  it("says in one line what is missing, and exits 2", async () => {
    for (const [args, message] of [
      [[], "controller or agent"],
      [["agent"], "--api-server"],
      [["agent", "--api-server", "https://127.0.0.1:1"], "--node-name"],
    ] as const) {
      const { output, ended } = start("agent", ...args);
      expect(await ended).to.equal(2);
      expect(output())
        .to.include(message)
        .and.match(/^[^\n]*\n$/);
    }
  });

  it("has its version, and the commit that it was built from", async () => {
    for (const target of ["controller", "agent"] as const) {
      const { output, ended } = start(target, "version");
      expect([await ended, output()]).to.deep.equal([0, `node-volume-operator ${version} (${revisionOf()})\n`]);
    }
  });

  it("says in one line which image has a role that this one lacks, and exits 2", async () => {
    for (const [target, ...args] of [
      ["controller", "agent", ...api(), "--node-name", "n"],
      ["agent", "controller", ...api(), "--identity", "c"],
    ] as const) {
      const { output, ended } = start(target, ...args);
      expect([await ended, output()]).to.deep.equal([
        ...[2, `this image has no ${args[0]}: run it from node-volume-operator-${args[0]}\n`],
      ]);
    }
  });

  const api = () => {
    const token = join(directory, "token");
    writeFileSync(token, "x");
    return [
      "--api-server",
      "https://127.0.0.1:1",
      "--api-ca-file",
      token,
      "--api-token-file",
      token,
      "--metrics-address",
      "127.0.0.1:0",
    ];
  };

  /**
   * Lines of a log that are no JSON: as Node's own warnings, which ENTRYPOINT turns off, and who starts a bundle may
   * not.
   */
  const notJSON = (output: string) =>
    output
      .split("\n")
      .slice(0, -1) // of the last one more may be on its way
      .filter((line) => {
        try {
          JSON.parse(line);
          return false;
        } catch {
          return true;
        }
      });

  it("runs the agent, native library and all: it takes the node's lock", async () => {
    const stateDir = join(directory, "state");
    mkdirSync(stateDir);
    const { output } = start(
      "agent",
      ...["agent", ...api()],
      "--node-name",
      "n",
      "--state-dir",
      stateDir,
      "--allowed-prefix",
      join(directory, "mnt"),
      "--kubelet-dir",
      join(directory, "kubelet"), // not that of a kubelet of this machine
    );
    await until("the lock", 10_000, () => existsSync(join(stateDir, "journal"))).catch((error: Error) => {
      throw new Error(`${error.message}\n${output()}`);
    });
    expect(notJSON(output()), "from the first line").to.deep.equal([]);
  });

  it("runs the api-proxy", async () => {
    const own = ["--node-name", "n", "--socket", join(directory, "api", "api.sock")];
    const { output } = start("controller", "api-proxy", ...api(), ...own);
    await until("its socket and metrics", 10_000, () =>
      ["serving the agent", "serving metrics and health"].every((line) => output().includes(line)),
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${output()}`);
    });
    expect(notJSON(output()), "from the first line").to.deep.equal([]);
  });

  it("runs the controller", async () => {
    const { output } = start("controller", "controller", ...api(), "--identity", "c", "--page-address", "127.0.0.1:0");
    await until("health server and page to serve", 10_000, () =>
      ["serving metrics and health", "serving the page"].every((line) => output().includes(line)),
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${output()}`);
    });
    expect(notJSON(output()), "from the first line").to.deep.equal([]);
  });

  it("is built from files that are there", () => {
    const copied = [...readFileSync(join(root, "Dockerfile"), "utf8").matchAll(/^COPY (?!--from)(.+)$/gm)];
    const sources = copied.flatMap(([, line = ""]) => line.split(" ").slice(0, -1));
    expect(sources).not.to.be.empty;
    expect(sources.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });
});
