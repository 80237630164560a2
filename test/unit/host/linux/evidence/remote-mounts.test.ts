import { expect } from "chai";
import { remoteMounts, remoteMountsSeen } from "../../../../../src/host/linux/evidence/remote-mounts.ts";
import { NamespacesUnknown, PinnedUnknown } from "../../../../../src/host/ports/evidence.ts";

type Each = NonNullable<Parameters<typeof remoteMounts>[0]>;

const mounts = [
  { id: 1, device: "8:1", fsType: "ext4" },
  { id: 2, device: "0:40", fsType: "nfs4" },
];

/** Of a node with one namespace; then it fails. */
const failing =
  (error: Error): Each =>
  async (visit) => {
    await visit({
      scan: async ({ found }) => {
        for (const mount of mounts) found(mount as Parameters<typeof found>[0]);
        return true;
      },
    });
    throw error;
  };
const unreadable = failing(new NamespacesUnknown("1 (systemd)"));

describe("mounts of file systems that may hang", () => {
  it("are what can be read for the proof before a write: one process that never can holds up no volume", async () => {
    const { ids, devices } = await remoteMountsSeen(unreadable);
    expect([...ids]).to.deep.equal([2]);
    expect([...devices]).to.deep.equal(["0:40"]);
  });

  it("are all of them for the proof of a release, or the release waits", async () => {
    const error = await remoteMounts(unreadable).then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(error).to.be.instanceOf(NamespacesUnknown);
  });

  it("are what processes show for any proof: a namespace that none of them is in, and cannot be read, holds up no disk", async () => {
    const { ids } = await remoteMounts(failing(new PinnedUnknown("the file /run/kept keeps mnt:[1]")));
    expect([...ids]).to.deep.equal([2]);
  });

  it("are not known after any other failure", async () => {
    const error = await remoteMountsSeen(failing(new Error("x"))).then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(String(error)).to.equal("Error: x");
  });
});
