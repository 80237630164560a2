import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { testDeadline } from "../../hack/lib/test-deadline.ts";
import { leftOf as leftButLoops } from "../lib/asserts/left-of.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { type QuickstartRun, startQuickstart } from "../lib/cluster/quickstart-run.ts";
import { needXfsprogs } from "../lib/csi/csi-needs.ts";

slowSuite("npm run quickstart -- --csi", () => {
  before(async function () {
    prepare(this);
    await needXfsprogs(this);
  });

  it("--once shows the claim's whole life in its order, exits 0 and leaves nothing", async () => {
    const run = startQuickstart(["--csi", "--once"]);
    await run.exits(0);
    let rest = run.output();
    for (const text of inOrder) {
      const found = text.exec(rest);
      if (found === null) throw new Error(`${text} is not in what is left of the output:\n${rest}`);
      rest = rest.slice(found.index + found[0].length);
    }
    expect(await leftOf(run)).to.deep.equal([]);
  });

  it("stays up until Ctrl-C with the claim mounted, and then leaves nothing", async () => {
    const run = startQuickstart(["--csi"]);
    await run.says("It stays up until Ctrl-C");
    expect(loopsOf(run), "loop devices while it is up").to.have.lengthOf(1);
    // What a terminal does: to every process of the foreground group.
    process.kill(-pidOf(run.npm), "SIGINT");
    await run.ended;
    expect(await leftOf(run)).to.deep.equal([]);
  });

  it("leaves nothing when npm is killed while the claim grows", async () => {
    const run = startQuickstart(["--csi", "--once"]);
    await run.says("kubectl patch pvc");
    run.npm.kill("SIGKILL");
    await run.ended;
    expect(await leftOf(run)).to.deep.equal([]);
  });
});

/** What the output has to say, one after the other. */
const inOrder: readonly RegExp[] = [
  /kubectl apply -k config\/samples\/quickstart-csi/,
  /objects +the claim is bound: pvc-\S+ was made for it/,
  /objects +the claim is held/,
  /objects +a VolumeAttachment is there \(nvi-/,
  /objects +the attacher says that it is attached/,
  /objects +node-1 has the leave to use it/,
  /kernel +staged by the driver: \/dev\/loop\d+ is mounted as xfs/,
  /kernel +mounted on \/var\/lib\/nodevolume\/mounts\/archive\/r[wo]/,
  /kernel +mounted on \/var\/lib\/nodevolume\/mounts\/archive\/r[wo]/,
  /nodevolumeintent\S+ +node-1 +archive +archive +persistentVolumeClaim +Mounted +True +2 +true/,
  /persistentvolumeclaim\/archive +Bound +pvc-.* 320Mi .*nodevolume\.dev\/held=/,
  /volumeattachment\S+\/nvi-[0-9a-f]{64} .* node-1 +true/,
  /\/var\/lib\/nodevolume\/mounts\/archive\/ro ro,.* - xfs \/dev\/loop/,
  /hello\n.*Read-only file system/,
  /\/dev\/loop\d+ +256M .*\/var\/lib\/nodevolume\/mounts\/archive\/rw/,
  /kernel +the file system has 576 MiB/,
  /objects +the claim has 640Mi/,
  /\/dev\/loop\d+ +576M .*\/var\/lib\/nodevolume\/mounts\/archive\/rw/,
  /it was gone for .* ms, by the kernel's mount table/,
  /its Event: Warning Drifted node-1\.archive-\S+: /,
  /and what was written is there: hello/,
  /kubectl delete nvs archive/,
  /kernel +unstaged/,
  /objects +the VolumeAttachment is gone/,
  /objects +the claim is free again/,
  /the kernel agrees: nothing is mounted/,
  /persistentvolumeclaim\/archive +Bound .* 640Mi .* allowed-set\.nodevolume\.dev\/archive=true\n/,
  /the driver has deleted the volume/,
  /done: nothing is left/,
];

/** Milliseconds; the kernel clears a loop device a moment after its last user. */
const patience = 5_000;

/** What there still is of a run. Loop devices are the machine's: only those of its own volumes count. */
async function leftOf(run: QuickstartRun): Promise<string[]> {
  const others = await leftButLoops(run);
  const deadline = performance.now() + testDeadline(patience);
  while (loopsOf(run).length > 0 && performance.now() < deadline) await sleep(50);
  return [...others, ...loopsOf(run)];
}

function loopsOf({ id }: QuickstartRun): string[] {
  return readdirSync("/sys/block").filter((name) => name.startsWith("loop") && backingFile(name).includes(id));
}

function backingFile(loop: string): string {
  try {
    return readFileSync(`/sys/block/${loop}/loop/backing_file`, "utf8");
  } catch {
    return ""; // not in use
  }
}
