import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { leftoversOf, lookForTraces } from "../../hack/lib/lanes/leftovers.ts";
import { runVariable } from "../../hack/lib/sandbox/outside.ts";
import { need } from "../lib/asserts/requirements.ts";

describe("what a run has left behind", () => {
  it("is no loop device of another run that goes on, and is one that nobody has any more", async function () {
    need(this, "root", "loop-devices");
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-leftovers-"));
    const before = lookForTraces();
    const script =
      'mount -t tmpfs none "$0" && truncate -s 1M "$0/file" && losetup --find --show "$0/file" && exec sleep infinity';
    const other = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, directory], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, [runVariable]: "another" },
    });
    const ended = new Promise((resolve) => other.once("exit", resolve));
    let loop = "";
    try {
      for await (const line of createInterface(other.stdout)) {
        loop = line;
        break;
      }
      expect(loop).to.match(/^\/dev\/loop\d+$/);
      const entry = `loop device ${basename(loop)}`;
      expect(await leftoversOf("one", before, 0)).not.to.include(entry);
      expect(await leftoversOf("another", before, 0), "its own").to.include(entry);
      other.kill("SIGKILL");
      await ended;
      expect(await leftoversOf("one", before, 0), "of a run that was killed").to.include(entry);
    } finally {
      other.kill("SIGKILL");
      await ended;
      if (loop !== "") execFileSync("losetup", ["--detach", loop]);
      rmSync(directory, { recursive: true });
    }
  });
});
