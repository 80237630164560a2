import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import { shownText } from "../../../../src/host/linux/child/expected-device.ts";
import { addedText, codeOf, refusal } from "../../../../src/host/linux/rbd/rbd-text.ts";
import type { RBDDevices } from "../../../../src/host/ports/ceph.ts";
import type { TearDownContext } from "../../../../src/plugins/api/teardown.ts";
import type { TearDownData } from "../../../../src/plugins/api/teardown-data.ts";
import type { VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { mappingOf, rbd } from "../../../../src/plugins/network/rbd.ts";

const key = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
const source = { monitors: ["10.0.0.1"], image: "data", secretRef: { namespace: "s", name: "ceph" } };
const always = "mount_timeout=30,noshare";

describe("what the kernel is told of an image", () => {
  const rows: [string, Partial<Parameters<typeof mappingOf>[0]>, string][] = [
    ["for writing, with the lock", {}, `10.0.0.1 name=admin,exclusive,lock_timeout=30,${always} rbd data -`],
    ["for reading, without", { readOnly: true }, `10.0.0.1 name=admin,ro,${always} rbd data -`],
    [
      "of monitors of the newer protocol",
      { monitors: ["10.0.0.1:3300", "[fd00::1]:3300"], user: "u", pool: "p" },
      `10.0.0.1:3300,[fd00::1]:3300 name=u,exclusive,lock_timeout=30,${always},ms_mode=prefer-crc p data -`,
    ],
    [
      "of monitors of both, by the older one",
      { monitors: ["10.0.0.1:3300", "10.0.0.2"] },
      `10.0.0.1:3300,10.0.0.2 name=admin,exclusive,lock_timeout=30,${always} rbd data -`,
    ],
  ];
  for (const [title, changes, text] of rows) {
    it(title, () => expect(mappingOf({ ...source, ...changes }).text).to.equal(text));
  }

  it("has the key only when it is written, and is known again without it", () => {
    const { text } = mappingOf(source);
    const added = addedText(text, key);
    expect(added).to.equal(text.replace(" rbd data", `,secret=${key} rbd data`));
    expect(shownText(`${added}\n`)).to.equal(text);
  });
});

describe("what the kernel says", () => {
  for (const [code, reason, errorClass] of [
    ["EACCES", "CredentialsRefused", "final"],
    ["EPERM", "CredentialsRefused", "final"],
    ["ENOENT", "ShareNotFound", "final"],
    ["EINVAL", "ImageUnsupported", "final"],
    ["ENXIO", "ImageUnsupported", "final"],
    ["EROFS", "VolumeHeldElsewhere", "transient"],
    ["EBUSY", "VolumeHeldElsewhere", "transient"],
    ["ETIMEDOUT", "ServerUnreachable", "transient"],
    ["EHOSTUNREACH", "ServerUnreachable", "transient"],
    ["ESHUTDOWN", "ServerUnreachable", "transient"],
  ] as const) {
    it(`${code} is ${reason}`, () => {
      expect(refusal("rbd/data", code)).to.include({ reason, errorClass });
      expect(refusal("rbd/data", code).message).to.contain("rbd/data");
    });
  }
});

describe("what the kernel says, and what is to be done", () => {
  const said = (code: string, changes = {}) =>
    refusal("rbd/data", code, mappingOf({ ...source, ...changes }).text).message;

  it("of a node that the cluster has fenced: not another writer, and how it is let in again", () => {
    expect(said("ESHUTDOWN"))
      .to.match(/blocklist.*ceph osd blocklist ls.*ceph osd blocklist rm/)
      .and.not.contain("rbd status");
    expect(codeOf("rbd-nbd: failed to open image: (108) Cannot send after transport endpoint shutdown")).to.equal(
      "ESHUTDOWN",
    );
  });

  it("of monitors at the port of the newer protocol: they, too, may be what an older kernel does not take", () => {
    const newer = { monitors: ["10.0.0.1:3300"] };
    expect(said("EINVAL", newer)).to.contain(":3300").and.contain("Linux 5.11").and.contain("exclusive-lock");
    expect(said("EINVAL")).not.to.contain("3300");
    expect(said("ENXIO", newer)).not.to.contain("3300");
  });
});

describe("an rbd volume", () => {
  const spec = (changes = {}) =>
    ({
      key: "k",
      nodeName: "n",
      source: { rbd: { ...source, ...changes } },
      volumeMode: "Filesystem",
      mountOptions: [],
    }) as VolumeSpec;

  it("is read-only as a whole, not in its targets alone, where the image is mapped so", () => {
    expect(rbd.layout(spec({ readOnly: true })))
      .to.include({ readOnly: true })
      .and.deep.include({ options: ["ro"] });
    expect(rbd.layout(spec())).to.include({ readOnly: false, credentials: true }).and.deep.include({ options: [] });
  });
});

describe("an image that is given back", () => {
  /** Not the kernel: what is mapped, and what was asked of it. */
  class FakeRBD implements RBDDevices {
    readonly asked: string[] = [];
    readonly devices = new Map<string, string>();
    find: RBDDevices["find"] = async ({ text }) => {
      const id = [...this.devices].find(([, shown]) => shown === text)?.[0];
      return id === undefined ? undefined : { id, path: `/dev/rbd${id}` };
    };
    map: RBDDevices["map"] = async () => {};
    /** What a device is given back for only by force. */
    refusal: VolumeError | undefined;
    unmap: RBDDevices["unmap"] = async (_mapping, { id }, force) => {
      this.asked.push(`${id}${force ? " force" : ""}`);
      if (this.refusal !== undefined && !force) throw this.refusal;
      this.devices.delete(id);
    };
  }

  const undone = async (
    kernel: FakeRBD,
    undo: TearDownData,
    unmountMode: TearDownContext["unmountMode"] = "Normal",
  ) => {
    await rbd.detach(undo, { rbd: kernel, unmountMode } as Partial<TearDownContext> as TearDownContext);
    return kernel.asked;
  };
  const mapping = mappingOf(source);

  it("is the one that is on record, by the line that it was mapped with; no other of the same image", async () => {
    const kernel = new FakeRBD();
    kernel.devices.set("0", "10.0.0.1 name=admin rbd data -").set("1", mapping.text);
    expect(await undone(kernel, { ...mapping })).to.deep.equal(["1"]);
    expect([...kernel.devices.keys()]).to.deep.equal(["0"]);
    expect(await undone(kernel, { ...mapping }), "once more").to.deep.equal(["1"]);
  });

  const inUse = new VolumeError("DeviceBusy", "transient", "it is open");
  const goesOn = new VolumeError("OperationAbandoned", "uncertain", "a child does not end");
  const rows: [string, TearDownContext["unmountMode"], VolumeError | undefined, string[], string?][] = [
    ["by no force, if it is to be had without", "Force", undefined, ["1"]],
    ["by force where it is not, and the ladder allows it", "Force", inUse, ["1", "1 force"]],
    ["by no force where the ladder does not", "Normal", inUse, ["1"], "DeviceBusy"],
    ["by no force while an attempt goes on", "Force", goesOn, ["1"], "OperationAbandoned"],
  ];
  for (const [what, unmountMode, refused, asked, reason] of rows) {
    it(`is had ${what}`, async () => {
      const kernel = new FakeRBD();
      kernel.devices.set("1", mapping.text);
      kernel.refusal = refused;
      const error = await undone(kernel, { ...mapping }, unmountMode).then(
        () => undefined,
        (thrown: VolumeError) => thrown.reason,
      );
      expect(error).to.equal(reason);
      expect(kernel.asked).to.deep.equal(asked);
    });
  }

  it("is none, if none was begun", async () => {
    expect(await undone(new FakeRBD(), {})).to.deep.equal([]);
  });
});
