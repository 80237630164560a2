import { mkdirSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { needTier } from "../lib/kernel/mount-tier.ts";
import { loadKernelCalls, MS } from "../sim/differential/kernel-calls.ts";
import { scratch } from "./scratch.ts";

/** Makes about 600 kB of mountinfo. */
const many = { mounts: 1_500, nameLength: 200 } as const;
const namespaces = 50;
const detach = 2;
/** A fifth of what 50 texts take. */
const mostMB = 6;

describe("memory of a kept mount table", () => {
  before(function () {
    need(this, "root");
  });

  it("a mount of which mountinfo tells more than statmount keeps its line and not the whole text", async function () {
    await needTier(this, "fanotify");
    using space = scratch();
    const calls = loadKernelCalls();
    calls.mount("", space.path, "", MS.PRIVATE);
    const long = `${space.path}/${"x".repeat(many.nameLength)}`;
    mkdirSync(long);
    calls.mount(long, long, "", MS.BIND); // all goes with it at the end
    for (let i = 0; i < many.mounts; i++) {
      mkdirSync(`${long}/${i}`);
      calls.mount(space.path, `${long}/${i}`, "", MS.BIND);
    }
    const table = new LinuxMountTable("self", realSystem(silent), ["fanotify"]);
    try {
      await table.read();
      const before = usedMB();
      for (let i = 0; i < namespaces; i++) {
        const file = `${space.path}/netns${i}`;
        writeFileSync(file, "");
        calls.mount("/proc/self/ns/net", file, "", MS.BIND);
        expect((await table.read()).at(file)?.root).to.match(/^net:\[/);
      }
      table.resync();
      expect(usedMB() - before).to.be.lessThan(mostMB);
    } finally {
      table.close();
      calls.umount(long, detach);
    }
  });
});

/** Strings of more than a megabyte lie outside of the heap. */
function usedMB(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
