import { mkdtempSync, rmSync } from "node:fs";
import { expect } from "chai";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { testDeadline } from "../../hack/lib/test-deadline.ts";
import { locateArm64VM } from "../../hack/lib/tools/arm64-vm.ts";
import { lastLines } from "../lib/asserts/last-lines.ts";
import { type GuestRun, testInArm64VM } from "../lib/vm/arm64-vm.ts";

/**
 * Suites of what QEMU's user mode lacks (statmount, listmount, fanotify of mounts, ioctls of namespaces, vfork), and
 * how many tests each has there at least.
 */
const suites: readonly { readonly file: string; readonly title: string; readonly atLeast: number }[] = [
  { file: "test/real/mount-links.test.ts", title: "what is asked of a mount by its id", atLeast: 6 },
  { file: "test/real/mount-events.test.ts", title: "events of the mount table", atLeast: 4 },
  { file: "test/real/recycled-id.test.ts", title: "a mount id that is in use again", atLeast: 3 },
  { file: "test/real/unmount-turns.test.ts", title: "an unmount that has to wait", atLeast: 4 },
  { file: "test/real/spawned-process.test.ts", title: "SpawnedProcess", atLeast: 8 },
  { file: "test/machine/mount-namespaces.test.ts", title: "the kernel's list of mount namespaces", atLeast: 6 },
];

/** Boot and all tests take about a minute of one processor. */
const limitMs = testDeadline(360_000);

describe("in a VM with an arm64 processor and Linux for it", () => {
  let run: GuestRun;

  before(async function () {
    this.timeout(limitMs + 60_000);
    const vm = await locateArm64VM({ env: process.env, report: (line) => console.log(line) });
    if ("missing" in vm) skipBecause(this, vm.missing);
    const place = mkdtempSync("/tmp/arm64-vm-");
    try {
      run = await testInArm64VM(
        vm,
        suites.map(({ file }) => file),
        { place, ms: limitMs },
      );
    } finally {
      rmSync(place, { recursive: true });
    }
    console.log(run.output.replace(/^/gm, "    "));
  });

  for (const { title, atLeast } of suites) {
    it(title, () => {
      const results = run.results.filter((result) => result.title.startsWith(title));
      const wrong = results.filter(
        ({ outcome, reason }) => !["passed", "slow"].includes(outcome) && !reason?.startsWith("needs "),
      );
      const text = wrong.map(({ title: of, outcome, reason = "" }) => `${of}: ${outcome} ${reason}`).join("\n");
      if (wrong.length > 0) throw new Error(`${text}\nthe VM said last\n${lastLines(run.output)}`);
      expect(results.filter(({ outcome }) => outcome === "passed").length, lastLines(run.output)).to.be.at.least(
        atLeast,
      );
    });
  }
});
