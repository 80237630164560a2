import { expect } from "chai";
import { runOfNode } from "../../../../../src/host/linux/child/node-tools.ts";
import { loadModule } from "../../../../../src/host/linux/rbd/load-module.ts";
import { LinuxScsi } from "../../../../../src/host/linux/scsi/linux-scsi.ts";
import type { Programs } from "../../../../../src/host/ports/programs.ts";
import type { ScsiDisk } from "../../../../../src/host/ports/scsi.ts";

/** Not the node: all programs that anybody asks for are in one folder, and end well. */
function nodeWith(folder: string) {
  const ran: string[] = [];
  const programs: Programs = {
    identify: async (path) => (path.slice(0, path.lastIndexOf("/")) === folder ? path : undefined),
    run: async (path) => {
      ran.push(path);
      return { code: 0, stdout: "", stderr: "" };
    },
  };
  return { programs, ran };
}

describe("programs of the node", () => {
  for (const folder of ["/usr/sbin", "/bin", "/usr/local/sbin", "/run/current-system/sw/bin"]) {
    it(`are found in ${folder}, whoever asks`, async () => {
      const { programs, ran } = nodeWith(folder);
      await runOfNode(programs, "lvm", [], {}, "lvm2");
      const multipath = new LinuxScsi({} as never, programs, {} as never);
      await multipath.offer({ name: "sda" } as ScsiDisk);
      await multipath.flushMap({ name: "mpatha", device: "dm-0" } as never);
      await loadModule(programs, "nbd", "/sys/module/there is none", "NBD").catch(() => {});
      expect(ran).to.deep.equal(["lvm", "multipathd", "multipath", "modprobe"].map((name) => `${folder}/${name}`));
    });
  }

  it("that are nowhere are missing; multipathd may be", async () => {
    const { programs, ran } = nodeWith("/opt");
    const multipath = new LinuxScsi({} as never, programs, {} as never);
    await multipath.offer({ name: "sda" } as ScsiDisk);
    for (const used of [
      () => runOfNode(programs, "lvm", [], {}, "lvm2"),
      () => multipath.flushMap({ name: "mpatha", device: "dm-0" } as never),
    ])
      expect(await used().catch((error: unknown) => error)).to.include({ reason: "ToolMissing", errorClass: "final" });
    expect(ran).to.deep.equal([]);
  });
});
