import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { expectCode } from "../lib/last-lines.ts";
import { need } from "../lib/requirements.ts";

/**
 * QEMU emulates several processors in as many threads, and then 8 of 108 children that Node runs from source end by SIGSEGV,
 * or by a failed check of V8: in the code that it makes of the WebAssembly by which it takes the types out, whole pages are
 * empty. With one thread none of 160 does, without QEMU none of 300, and bundled, as in the image, none of 180.
 */
const oneProcessor = ["--cpus", "1"] as const;

describe("in a VM whose kernel has NFS", () => {
  before(function () {
    need(this, "vm");
  });

  it("the plugin contract holds for nfs", async function () {
    this.timeout(1_200_000);
    const vm = join(process.env["VM"] ?? "", "vm.sh");
    const args = [
      "run",
      "--timeout",
      "900",
      ...oneProcessor,
      "--no-udev",
      "--disk",
      "256M",
      "--modules",
      "nfsd",
      "--",
      "sh",
      "test/vm/nfs-guest.sh",
    ];
    const child = spawn(vm, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const [code] = await once(child, "close");
    expectCode(Number(code), 0, output);
    expect(output).to.match(/^ +[1-9]\d* passing/m);
  });
});
