import { execFileSync } from "node:child_process";
import { slowInGate } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";

describe("unused code", () => {
  /** Its limits, entries and exceptions: knip.json. It takes 3 s. */
  slowInGate("there is none: no file, export or dependency that nothing uses, by knip", () => {
    try {
      execFileSync("knip", ["--no-progress"], { cwd: root, encoding: "utf8", stdio: "pipe" });
    } catch (error) {
      throw new Error(`knip found:\n${(error as { readonly stdout?: string }).stdout ?? error}`, { cause: error });
    }
  });
});
