import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { fakeAnswer } from "../../../../hack/lib/fake-answer.ts";
import { redact } from "../../../../src/api/values/redact.ts";
import type { Cluster } from "../../../../src/cli/cluster.ts";
import type { Context } from "../../../../src/cli/command.ts";
import { helpOf } from "../../../../src/cli/help.ts";
import { supportBundleCommand } from "../../../../src/cli/support-bundle/support-bundle.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../../../src/kube/client/transport.ts";
import { canaries, fakeClusterAnswers } from "../fake-cluster-answers.ts";

const now = Date.parse("2026-11-25T22:30:23Z");

class FakeCluster implements Transport {
  readonly asked: string[] = [];
  readonly answers: { readonly [path: string]: unknown };
  readonly refused: (path: string) => boolean;
  constructor(refused: (path: string) => boolean = () => false, answers = fakeClusterAnswers()) {
    this.refused = refused;
    this.answers = answers;
  }
  async request(request: ApiRequest): Promise<ApiResponse> {
    return fakeAnswer(request.path, this.#answer(request));
  }
  #answer({ path, query = {} }: ApiRequest): ApiResponse {
    const { limit: _, tailLines, ...selectors } = query;
    this.asked.push(`${path}?${new URLSearchParams(selectors)}`);
    if (this.refused(path)) return { status: 403, body: { reason: "Forbidden", message: "not you" } };
    const key = "fieldSelector" in query && path.endsWith("events") ? `${path}?${query["fieldSelector"]}` : path;
    const body = this.answers[query["previous"] === "true" ? `${path}?previous` : key];
    if (body !== undefined) return { status: 200, body };
    return path.endsWith("s") && !path.includes("/proxy/")
      ? { status: 200, body: { items: [] } }
      : { status: 404, body: { reason: "NotFound" } };
  }
  stream(): () => void {
    throw new Error("nothing is watched");
  }
}

interface Made {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
  /** By path, without the folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly archive: Uint8Array | undefined;
}

async function make(transport: Transport, values = {}, interrupted = new AbortController()): Promise<Made> {
  const directory = mkdtempSync(join(tmpdir(), "nvi-bundle-"));
  let [out, notes] = ["", ""];
  let archive: Uint8Array | undefined;
  const client = createKubeClient({ transport, fieldManager: "" });
  const context = {
    terminal: {
      out: (text: string) => {
        out += text;
      },
      note: (line: string) => {
        notes += `${line}\n`;
      },
    },
    system: { clock: { now: () => now, monotonic: () => 0 } },
    version: "0.1.0",
    revision: "0a".repeat(20),
    interrupted: interrupted.signal,
    connect: async () => ({ client, transport }) as unknown as Cluster,
    async write(_path: string, content: Uint8Array) {
      archive = content;
    },
  } as unknown as Context;
  try {
    const code = await supportBundleCommand.run({ args: [], values: { output: "x.tar.gz", ...values }, context });
    const files = new Map<string, string>();
    if (archive !== undefined) {
      // A real tar takes it.
      writeFileSync(join(directory, "x.tar.gz"), archive);
      execFileSync("tar", ["-xzf", "x.tar.gz"], { cwd: directory });
      const folder = join(directory, "nvi-support-bundle-20261125T223023Z");
      for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(name.parentPath, name.name);
        if (name.isFile()) files.set(path.slice(folder.length + 1), readFileSync(path, "utf8"));
      }
    }
    return { code, out, notes, files, archive };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("kubectl nvi support-bundle", () => {
  it("has all that there is, and says that nothing is missing", async () => {
    const { code, out, files, notes } = await make(new FakeCluster());
    expect([code, out]).to.deep.equal([0, "x.tar.gz\n"]);
    expect([...files.keys()].sort()).to.deep.equal([
      "README.txt",
      "bundle.json",
      "cluster/csidrivers.json",
      "cluster/csinodes.json",
      "cluster/nodes.json",
      "cluster/volumeattachments.json",
      "events/nodevolume-agent.json",
      "events/nodevolume-controller.json",
      "events/nodevolume-system.json",
      "logs/nodevolume-agent-1/agent.log",
      "logs/nodevolume-agent-1/agent.previous.log",
      "logs/nodevolume-agent-1/api-proxy.log",
      "logs/nodevolume-agent-2/agent.log",
      "logs/nodevolume-agent-2/api-proxy.log",
      "logs/nodevolume-controller-1/controller.log",
      "metrics/nodevolume-agent-1.txt",
      "metrics/nodevolume-agent-2.txt",
      "metrics/nodevolume-controller-1.txt",
      "objects/nodevolumeintents.json",
      "objects/nodevolumesets.json",
      "objects/nodevolumestates.json",
      "system/configmaps.json",
      "system/daemonsets.json",
      "system/deployments.json",
      "system/leases.json",
      "system/pods.json",
      "troubles.txt",
      "versions.json",
    ]);
    expect(files.get("README.txt"))
      .to.include("All of it could be read.")
      .and.include("logs/nodevolume-agent-1/agent.log: ");
    expect(notes).to.include("objects/nodevolumeintents.json: 2\n").and.not.include("left out");
    expect(files.get("troubles.txt")).to.equal(
      "NodeVolumeIntent worker-1.data-1 Ready=False ServerUnreachable since 2026-11-25T22:00:00Z: nas does not answer\n",
    );
    expect(JSON.parse(files.get("versions.json") ?? "")).to.deep.include({
      kubectlNvi: "0.1.0",
      revision: "0a".repeat(20),
      kubernetes: { gitVersion: "v1.36.3" },
    });
    // A log of one line comes as JSON, and is still a line.
    expect(files.get("logs/nodevolume-agent-2/agent.log")).to.equal('{"message":"agent started"}\n');
    expect(files.get("metrics/nodevolume-controller-1.txt")).to.equal("nodevolume_controller_leader 1\n");
  });

  it("has nothing in it that is secret, in any writing, and asks for no Secret", async () => {
    const cluster = new FakeCluster();
    const { files, notes } = await make(cluster);
    const { everywhere, shaped } = canaries;
    const all = [...everywhere, ...shaped];
    const given = JSON.stringify(cluster.answers);
    for (const canary of all) expect(redact(given, [canary]), `${canary} is in the cluster`).not.to.equal(given);
    for (const [path, text] of files) expect(redact(text, all), path).to.equal(text);
    expect(redact(notes, all)).to.equal(notes);
    expect(cluster.asked.join("\n")).not.to.match(/secrets/);
    // What matters is still there.
    expect(files.get("objects/nodevolumeintents.json")).to.include("volumeAttributes").and.include("share-7");
    expect(files.get("system/pods.json")).to.include('"HTTPS_PROXY"').and.include("/etc/nodevolume/log-level");
    expect(files.get("system/configmaps.json")).to.include("/mnt/nodevolume").and.include('"agents": "debug"');
    expect(files.get("cluster/nodes.json")).to.include("containerRuntimeVersion").and.not.include("192.0.2.7");
  });

  it("says what could not be read, and why, and goes on", async () => {
    const log = "/api/v1/namespaces/nodevolume-system/pods/nodevolume-agent-1/log";
    const refused = (path: string) => /configmaps|\/proxy\/|csinodes/.test(path) || path === log;
    const { code, files, notes } = await make(new FakeCluster(refused));
    expect(code).to.equal(0);
    const gaps = [
      "cluster/csinodes.json: you may not list csinodes.storage.k8s.io",
      "system/configmaps.json: you may not list configmaps in nodevolume-system",
      "logs/nodevolume-agent-1/agent.log: you may not get pods/log in nodevolume-system",
      "metrics/nodevolume-agent-2.txt: you may not get pods/proxy in nodevolume-system",
    ];
    for (const gap of gaps) {
      expect(files.get("README.txt"), gap).to.include(`\n  ${gap}\n`);
      expect(notes, gap).to.include(`left out: ${gap}\n`);
    }
    for (const path of gaps.map((gap) => gap.split(":")[0] ?? "")) expect(files.has(path), path).to.equal(false);
    expect(files.has("logs/nodevolume-controller-1/controller.log")).to.equal(true);
  });

  it("is of one node, if that is asked for, and of the controllers", async () => {
    const cluster = new FakeCluster();
    const { files } = await make(cluster, { node: "worker-1" });
    expect(cluster.asked.join("\n"))
      .to.include("nodevolumeintents?fieldSelector=spec.nodeName%3Dworker-1")
      .and.include("csinodes?fieldSelector=metadata.name%3Dworker-1");
    expect([...files.keys()].filter((path) => path.startsWith("logs/"))).to.deep.equal(
      [
        "logs/nodevolume-controller-1/controller.log",
        "logs/nodevolume-agent-1/agent.log",
        "logs/nodevolume-agent-1/agent.previous.log",
        "logs/nodevolume-agent-1/api-proxy.log",
      ].sort(),
    );
    const names = (path: string) =>
      (JSON.parse(files.get(path) ?? "[]") as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    expect(names("cluster/volumeattachments.json")).to.deep.equal(["on-1"]);
    expect(names("events/nodevolume-agent.json")).to.deep.equal(["of-1"]);
  });

  it("makes the same bytes of the same cluster, and nothing once it was interrupted", async () => {
    const [one, two] = [await make(new FakeCluster()), await make(new FakeCluster())];
    expect(Buffer.compare(one.archive ?? Buffer.of(1), two.archive ?? Buffer.of(2))).to.equal(0);
    const interrupted = new AbortController();
    interrupted.abort();
    const error = await make(new FakeCluster(), {}, interrupted).then(
      () => "made",
      (reason: unknown) => String(reason),
    );
    expect(error).to.include("nothing was written");
  });

  it("is called what it is in its help", () => {
    expect(helpOf(supportBundleCommand))
      .to.match(/-o, --output FILE {2,}archive to write; default: /)
      .and.include("--node NAME");
  });
});
