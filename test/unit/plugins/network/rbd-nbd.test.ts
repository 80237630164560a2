import { expect } from "chai";
import { codeOf, codeOfLog } from "../../../../src/host/linux/rbd/rbd-text.ts";
import type { NBDImages, NBDServed } from "../../../../src/host/ports/ceph.ts";
import type { TearDownContext } from "../../../../src/plugins/api/teardown.ts";
import type { StageContext } from "../../../../src/plugins/api/volume-plugin.ts";
import { rbd } from "../../../../src/plugins/network/rbd.ts";
import { nbdArgs, placeOf, serve, unused } from "../../../../src/plugins/network/rbd-nbd.ts";

const key = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
const source = { monitors: ["10.0.0.1"], image: "data", secretRef: { namespace: "s", name: "ceph" }, user: "u" };
const place = placeOf("rbd/data", "/state/data/k");
const client = { pid: 7, startTime: 1 };
const device = "/dev/nbd0";

/** Not the kernel: what there is of the image, and what was asked. */
class FakeNode {
  readonly asked: string[] = [];
  there: NBDServed;
  /** What a start leads to. */
  next: NBDServed = { device, client: { pid: 8, startTime: 2 } };
  endsByItself = true;

  constructor(there: NBDServed = {}) {
    this.there = there;
  }

  readonly nbd: NBDImages = {
    find: async (cookie) => {
      expect(cookie).to.equal(place.cookie);
      return this.there;
    },
    serve: async ({ args, secret }, at) => {
      this.asked.push(at === undefined ? "map" : `attach ${at}`);
      expect(args.join(" ")).not.to.contain(key);
      expect(secret).to.equal(key);
      this.there = this.next;
    },
    deviceOf: async () => this.there.device,
    disconnect: async (cookie, at) => {
      expect(cookie).to.equal(place.cookie);
      this.asked.push(`disconnect ${at}`);
      this.there = {};
    },
  };

  readonly context = {
    nbd: this.nbd,
    unmountMode: "Normal",
    content: [{ version: "1", data: new Map([["key", Buffer.from(key)]]) }],
    clients: {
      kill: async ({ pid }: { pid: number }) => {
        this.asked.push(`kill ${pid}`);
      },
      ended: async () => this.endsByItself,
    },
    directories: {
      make: async () => {},
      identify: async () => ({ device: "1", inode: 1 }),
      discard: async (path: string) => {
        this.asked.push(`discard ${path}`);
      },
    },
  } as unknown as StageContext & TearDownContext;
}

describe("an image that rbd-nbd serves", () => {
  const rows: [string, NBDServed, string[]][] = [
    ["is mapped", {}, ["map"]],
    ["is left as it is while it is served", { device, client }, []],
    ["is taken over, with its device, when its process has ended", { device }, [`attach ${device}`]],
    ["is begun anew when its process was cut off before it had a device", { client }, ["kill 7", "map"]],
  ];
  for (const [what, there, asked] of rows) {
    it(what, async () => {
      const node = new FakeNode(there);
      const served = await serve(place, there, source, node.context);
      expect(node.asked).to.deep.equal(asked);
      expect(served).to.deep.equal(node.there);
    });
  }

  it("of whose device the kernel does not tell is not served", async () => {
    const node = new FakeNode();
    node.next = { client };
    const error = await serve(place, {}, source, node.context).catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "SetUpFailed" }).and.have.property("message").that.contains("Linux 5.14");
    expect(node.asked).to.deep.equal(["map", "kill 7"]);
  });

  it("is given back by its cookie alone, with the directory of its log", async () => {
    const node = new FakeNode({ device, client });
    await rbd.detach({ ...place }, node.context);
    expect(node.asked).to.deep.equal([`disconnect ${device}`, "discard /state/data/k"]);
    await rbd.detach({ ...place }, node.context);
    expect(
      node.asked.filter((one) => one.startsWith("disconnect")),
      "once more",
    ).to.have.length(1);
  });

  it("is not given back before its process has written what is left", async () => {
    const node = new FakeNode({ client });
    node.endsByItself = false;
    const error = await rbd.detach({ ...place }, node.context).catch((thrown: unknown) => thrown);
    expect(error)
      .to.include({ reason: "StillReferenced" })
      .and.deep.include({ heldBy: [7] });
    expect(node.asked).to.deep.equal([]);
  });

  it("is given back for all that, where the ladder allows more than an ordinary unmount; its process has had one attempt to write", async () => {
    const node = new FakeNode({ device, client });
    node.endsByItself = false;
    const context = { ...node.context, unmountMode: "Force" } as const;
    const error = await rbd.detach({ ...place }, context).catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "StillReferenced" });
    node.there = { client };
    await rbd.detach({ ...place }, context);
    expect(node.asked).to.deep.equal([`disconnect ${device}`, "kill 7", `discard ${place["directory"]}`]);
  });

  it("is given back at once where it never had a device: its process waits for its cluster, and has nothing to write", async () => {
    const node = new FakeNode({ client });
    node.endsByItself = false;
    await rbd.detach(unused(place), node.context);
    expect(node.asked).to.deep.equal(["kill 7", `discard ${place["directory"]}`]);
  });

  it("is asked for with the lock, or for reading alone", () => {
    const args = nbdArgs(source, "rbd/data").join(" ");
    expect(args).to.contain("--mon-host=10.0.0.1 --id=u --keyfile=/proc/self/fd/100 --exclusive --try-netlink");
    expect(args.endsWith(" rbd/data")).to.equal(true);
    const readOnly = nbdArgs({ ...source, readOnly: true }, "rbd/data");
    expect(readOnly).to.include("--read-only").and.not.include("--exclusive");
  });
});

describe("what rbd-nbd says of why", () => {
  const line = (text: string) => `2026-11-23T08:46:45.991+0000 7f69fdffb6c0 10 ${text}\n`;
  const rows: [string, string | undefined, string | undefined][] = [
    ["another writer", codeOf("rbd-nbd: failed to acquire exclusive lock: (30) Read-only file system"), "EROFS"],
    ["nothing at all", codeOf(""), undefined],
    ["a key that is refused", codeOfLog(line("monclient: _finish_auth -13") + line("monclient: shutdown")), "EACCES"],
    ["an image that is not there", codeOfLog(line("librbd::ImageState: 0x5 0x5 handle_open: r=-2")), "ENOENT"],
    ["a pool that is not there", codeOfLog(line("monclient: authenticate success, global_id 1")), "ENOENT"],
    [
      "a cluster that does not answer",
      codeOfLog(line("monclient(hunting): authenticate timed out after 30")),
      undefined,
    ],
  ];
  for (const [what, code, wanted] of rows) it(what, () => expect(code).to.equal(wanted));
});
