import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { rolesOf } from "../../../hack/lib/bundle.ts";
import { StepError } from "../../../hack/lib/process.ts";
import { root } from "../../../hack/lib/root.ts";
import { notMounted } from "../../../hack/quickstart/await-mounts.ts";
import { freshEvent } from "../../../hack/quickstart/events.ts";
import { farewell } from "../../../hack/quickstart/farewell.ts";
import { keepLog } from "../../../hack/quickstart/kept-log.ts";
import { viewOf } from "../../../hack/quickstart/live-view.ts";
import { parseOptions, UsageError } from "../../../hack/quickstart/options.ts";
import { changedMounts } from "../../../hack/quickstart/restart.ts";
import { createScreen, describeFailure } from "../../../hack/quickstart/screen.ts";

describe("quickstart", () => {
  it("parseOptions has defaults", () => {
    expect(parseOptions([])).to.deep.equal({ once: false, nodes: 1, csi: false, existing: undefined });
  });

  it("parseOptions reads a cluster that exists", () => {
    const options = parseOptions(["--kubeconfig", "k", "--node", "n", "--once"]);
    expect(options).to.deep.equal({ once: true, nodes: 1, csi: false, existing: { kubeconfig: "k", node: "n" } });
  });

  for (const [args, message] of [
    [["--nodes", "0"], "from 1 to 9"],
    [["--nodes", "two"], "from 1 to 9"],
    [["--kubeconfig", "k"], "belong together"],
    [["--node", "n"], "belong together"],
    [["--kubeconfig", "k", "--node", "n", "--nodes", "2"], "--nodes is for"],
    [["--fast"], "--fast"],
  ] as const) {
    it(`parseOptions refuses ${args.join(" ")}`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError, message);
    });
  }

  const set = (ready: "True" | "False", observedGeneration = 2, desired = 1) => ({
    metadata: { name: "scratch", generation: 2 },
    status: {
      desired,
      ready: 1,
      observedGeneration,
      conditions: [{ type: "Ready", status: ready, reason: "AllReady", message: "m" }],
    },
  });
  const sets = (object: object) => new Map([["scratch", object as { [key: string]: unknown }]]);

  it("viewOf is ready when each set is, by its newest generation and with a node", () => {
    expect(viewOf(["scratch"], sets(set("True")), new Map()).ready).to.equal(true);
    expect(viewOf(["scratch"], sets(set("False")), new Map()).ready).to.equal(false);
    expect(viewOf(["scratch"], sets(set("True", 1)), new Map()).ready).to.equal(false);
    expect(viewOf(["scratch"], sets(set("True", 2, 0)), new Map()).ready).to.equal(false);
    expect(viewOf(["scratch", "other"], sets(set("True")), new Map()).ready).to.equal(false);
  });

  it("notMounted has the paths of the sets' mounts on one node that its kernel has not", () => {
    const intent = (name: string, nodeName: string, set: string, ...paths: string[]) => ({
      metadata: { name, labels: { [`set.nodevolume.dev/${set}`]: "" } },
      spec: { nodeName, mounts: paths.map((path) => ({ path })) },
    });
    const intents = [
      intent("a", "n", "scratch", "/mnt/a", "/mnt/b"),
      intent("b", "other", "scratch", "/mnt/c"),
      intent("c", "n", "somebodys", "/mnt/d"),
    ];
    const table = ["36 25 0:32 / /mnt/a rw shared:1 - tmpfs tmpfs rw", "37 25 0:33 / /mnt/bb rw - tmpfs tmpfs rw"];
    expect(notMounted("n", ["scratch"], intents, table)).to.deep.equal(["/mnt/b"]);
  });

  it("viewOf says of each intent that is not ready what it waits for", () => {
    const intent = {
      metadata: { name: "n.scratch" },
      spec: { nodeName: "n" },
      status: { state: "Waiting", waiting: { reason: "SourceNotFound", message: "no /x" } },
    };
    const { lines } = viewOf(["scratch"], sets(set("False")), new Map([["n.scratch", intent]]));
    expect(lines.at(-1)).to.equal("  n.scratch: Waiting, SourceNotFound: no /x");
  });

  it("describeFailure says what happened, shows the log and what to do", () => {
    const text = describeFailure(new StepError("etcd exited with 1", { details: ["disk full"], remedy: "make room" }));
    expect(text)
      .to.include("quickstart failed: etcd exited with 1")
      .and.include("  | disk full")
      .and.include("what to do: make room");
  });

  it("farewell reaches everything through the first process of the sandbox", () => {
    const input = {
      initPid: 7,
      hostPid: 9,
      hostName: "n",
      agentPid: 11,
      kubectl: "/c/kubectl",
      cli: "/d/kubectl-nvi",
      kubeconfig: "/tmp/k",
      logs: "/tmp/l",
    };
    const text = farewell(input);
    expect(text)
      .to.include('export KUBECONFIG=/proc/7/root/tmp/k PATH="/c:/d:$PATH"')
      .and.include("nsenter -t 9 -m -p umount")
      .and.include("kill -9 11");
    expect(text.trimEnd().split("\n")).to.have.length.below(11);
    expect(farewell({ ...input, agentPid: 0 }), "that would end the terminal").to.not.include("kill");
  });

  for (const [where, isTTY] of [
    ["a terminal", true],
    ["a file", false],
  ] as const)
    it(`createScreen shows live lines in place on ${where}, or once, as they settled`, () => {
      let text = "";
      const screen = createScreen({ isTTY, columns: 80, write: (more) => (text += more) });
      screen.step("waiting");
      screen.live(["scratch 0"]);
      screen.live(["scratch 1"]);
      screen.settle();
      screen.note("done");
      const live = "    scratch 0\n\x1b[1A\x1b[J    scratch 1\n";
      expect(text).to.equal(
        isTTY ? `\n\x1b[1m==> waiting\x1b[0m\n${live}    done\n` : "==> waiting\n    scratch 1\n    done\n",
      );
    });

  it("freshEvent is one that was not there, or was told again", () => {
    const event = (uid: string, resourceVersion: string) => ({
      metadata: { uid, resourceVersion },
      involvedObject: { kind: "NodeVolumeIntent", name: "n.scratch-1" },
      type: "Warning",
      reason: "Drifted",
      message: "m",
    });
    expect(freshEvent([event("a", "1")], [event("a", "1")])).to.equal(undefined);
    expect(freshEvent([event("a", "1")], [event("a", "1"), event("b", "2")])?.metadata.uid).to.equal("b");
    expect(freshEvent([event("a", "1")], [event("a", "3")])?.metadata.resourceVersion).to.equal("3");
  });

  it("changedMounts are places that came, went or have another mount id", () => {
    const line = (id: number, place: string) => `${id} 25 0:32 / ${place} rw shared:1 - tmpfs tmpfs rw`;
    const before = [line(1, "/a"), line(2, "/b"), line(3, "/c")];
    expect(changedMounts(before, before)).to.deep.equal([]);
    expect(changedMounts(before, [line(1, "/a"), line(9, "/b"), line(4, "/d")])).to.deep.equal(["/b", "/c", "/d"]);
  });

  it("keepLog copies a log to where it outlives the run, and says where", () => {
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-log-"));
    const name = `agent-of-test-${process.pid}.log`;
    writeFileSync(join(directory, name), "its last words\n");
    try {
      expect(keepLog(join(directory, name))).to.include(`dist/quickstart-logs/${name}`);
      rmSync(directory, { recursive: true });
      expect(readFileSync(join(root, "dist/quickstart-logs", name), "utf8")).to.equal("its last words\n");
      expect(keepLog(join(directory, name))).to.equal("the end of its log is above");
    } finally {
      rmSync(join(root, "dist/quickstart-logs", name), { force: true });
    }
  });

  it("rolesOf names a bundle for each role of main.ts", () => {
    const source =
      'await import("./agent/run.ts"); await import("./log.ts"); await import("./host/linux/child-main.ts");';
    expect([...rolesOf(source)]).to.deep.equal([
      ["./agent/run.ts", "agent"],
      ["./host/linux/child-main.ts", "child"],
    ]);
  });
});
