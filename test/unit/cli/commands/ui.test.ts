import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../../hack/lib/root.ts";
import { until } from "../../../../hack/lib/until.ts";
import type { Context } from "../../../../src/cli/command.ts";
import { uiCommand } from "../../../../src/cli/commands/ui.ts";
import { UsageError } from "../../../../src/cli/exit-code.ts";

/** What it runs kubectl with, and how it ends. */
async function run(args: string[], values = {}, ends = 0) {
  const [ran, notes]: [string[], string[]] = [[], []];
  const context = {
    terminal: { out: (text: string) => notes.push(text), note: (line: string) => notes.push(line) },
    interrupted: new AbortController().signal,
    kubectl: async (words: readonly string[]) => {
      ran.push(words.join(" "));
      return ends;
    },
  } as unknown as Context;
  return { code: await uiCommand.run({ args, values, context }), ran, notes };
}

describe("kubectl nvi ui", () => {
  it("forwards the page's port, by the kubeconfig that was given", async () => {
    expect(await run([])).to.deep.equal({
      code: 0,
      ran: [
        "--namespace nodevolume-system port-forward --address 127.0.0.1 deployment/nodevolume-controller 9809:9809",
      ],
      notes: ["The page is at http://127.0.0.1:9809 until Ctrl-C."],
    });
    const { ran } = await run(["8080"], { kubeconfig: "k", context: "c", namespace: "n" });
    expect(ran).to.deep.equal([
      "--kubeconfig k --context c --namespace n port-forward --address 127.0.0.1 deployment/nodevolume-controller 8080:9809",
    ]);
  });

  it("fails when kubectl does", async () => {
    expect((await run([], {}, 1)).code).to.equal(3);
  });

  it("refuses what is no port before it runs anything", async () => {
    for (const word of ["0", "65536", "-1", "http", "80:80", ""]) {
      const error = await run([word]).catch((thrown: unknown) => thrown);
      expect(error, word).to.be.instanceOf(UsageError);
    }
  });

  describe("on a terminal", function () {
    this.timeout(60_000);
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), "nvi-ui-"));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    /** A fake kubectl prints its pid and its arguments, and goes on until a signal. */
    async function start(signal: NodeJS.Signals) {
      writeFileSync(join(directory, "kubectl"), '#!/bin/sh\necho "fake $$ $*"\nexec sleep 600\n');
      chmodSync(join(directory, "kubectl"), 0o755);
      const env = { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory };
      const child = spawn(process.execPath, [join(root, "src/kubectl-nvi.ts"), "ui"], { env });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      await until("kubectl to run", 10_000, () => /fake \d+ .*9809:9809\n/.test(text));
      const [, pid = ""] = /fake (\d+)/.exec(text) ?? [];
      child.kill(signal);
      const code = await ended;
      await until("kubectl to be gone", 10_000, () => !existsSync(`/proc/${pid}`));
      return code;
    }

    it("ends with Ctrl-C, and kubectl with it", async () => {
      expect(await start("SIGINT")).to.equal(0);
    });

    it("leaves no kubectl behind when it is ended otherwise", async () => {
      expect(await start("SIGTERM")).to.equal(143);
    });

    it("names what is missing where there is no kubectl", async () => {
      const child = spawn(process.execPath, [join(root, "src/kubectl-nvi.ts"), "ui"], { env: { PATH: directory } });
      let text = "";
      child.stderr.on("data", (chunk) => (text += chunk));
      const code = await new Promise((resolve) => child.on("close", resolve));
      expect(text).to.include("error: kubectl does not start: spawn kubectl ENOENT");
      expect(code).to.equal(3);
    });
  });
});
