import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import { cephErrno } from "../../../../src/host/ports/ceph.ts";
import { secretFile } from "../../../../src/host/ports/programs.ts";
import { contentKey, secretContent } from "../../../../src/plugins/api/content.ts";
import type { VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { cephArgs, cephKey, refusedUser } from "../../../../src/plugins/network/ceph.ts";
import { cephfs } from "../../../../src/plugins/network/cephfs.ts";
import { cephFuseArgs } from "../../../../src/plugins/network/cephfs-fuse.ts";
import { kernelOptions, kernelSource } from "../../../../src/plugins/network/cephfs-kernel.ts";

const key = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
const source = { monitors: ["a:6789", "[fd00::1]"], path: "/data", secretRef: { namespace: "s", name: "ceph" } };
/** A key with other bytes from there on. */
const withBytes = (at: number, ...bytes: number[]) => {
  const all = Buffer.from(key, "base64");
  all.set(bytes, at);
  return all.toString("base64");
};
const content = (value?: string) => ({
  version: "u/1",
  data: new Map(value === undefined ? [] : [["key", Buffer.from(value)] as const]),
});

describe("the key of a user of Ceph", () => {
  it("is the key of the Secret, without the line end of a file", () => {
    expect(cephKey(content(key), source)).to.equal(key);
    expect(cephKey(content(`${key}\n`), source)).to.equal(key);
  });

  for (const [what, value] of [
    ["is missing", undefined],
    ["is empty", ""],
    ["is a keyring", `[client.a]\n\tkey = ${key}\n`],
    ["is of two lines", `${key}\n${key}`],
    ["is cut off", key.slice(0, 20)],
    ["has only the look of one", `AQBg${"A".repeat(36)}`],
    ["is of no type", withBytes(0, 0)],
    ["is of a type that the clients do not know", withBytes(0, 2)],
    ["says to be longer than it is", withBytes(10, 32)],
    ["is longer than it says", Buffer.concat([Buffer.from(key, "base64"), Buffer.alloc(16)]).toString("base64")],
    ["is written otherwise than Ceph writes it", key.replace("Q==", "R==")],
  ] as const) {
    it(`that ${what} is refused, without saying what is in it`, () => {
      const matched = expect(() => cephKey(content(value), source)).to.throw(VolumeError, /Secret s\/ceph/);
      matched.with.property("reason", "KeyNotFound");
      matched.with.property("message").that.does.not.contain("AQBg");
    });
  }

  it("is followed, member by member in the order of its name", () => {
    const other = { ...source, secretRef: { name: "ceph", namespace: "s" } };
    expect(contentKey(secretContent(other.secretRef))).to.equal(contentKey(secretContent(source.secretRef)));
  });
});

describe("cephArgs", () => {
  it("name all monitors, admin if no user is named, and nothing of the node", () => {
    expect(cephArgs(source, secretFile)).to.deep.equal([
      ...["--conf=/dev/null", "--no-mon-config", "--admin-socket=", "--keyring="],
      ...["--mon-host=a:6789,[fd00::1]", "--id=admin", "--keyfile=/proc/self/fd/100"],
    ]);
    expect(cephArgs({ ...source, user: "k8s" }, "f")).to.include("--id=k8s");
  });
});

describe("a cephfs volume", () => {
  const spec = (changes = {}): VolumeSpec => ({
    key: "k",
    nodeName: "n",
    source: { cephfs: { ...source, ...changes } },
    volumeMode: "Filesystem",
    mountOptions: [],
  });

  it("is found in the mount table by its first monitor, whichever has answered", () => {
    expect(cephfs.layout(spec({ readOnly: true }))).to.deep.equal({
      options: [],
      readOnly: true,
      devices: false,
      filesystem: { types: ["fuse.ceph-fuse"], source: "a:6789:/data", own: false },
      content: [{ kind: "Secret", namespace: "s", name: "ceph", optional: false }],
      credentials: true,
    });
    expect(cephfs.layout(spec({ path: undefined })).filesystem?.source).to.equal("a:6789:/");
  });

  it("is asked for as it is to be shown: nosuid, nodev, read-only if asked", () => {
    const place = { target: "/t", pidFile: "/d/client.pid", log: "/d/client.log" };
    expect(cephFuseArgs(source, place).slice(-8)).to.deep.equal([
      ...["--client-mountpoint=/data", "--client-mount-timeout=30", "--client-acl-type=posix_acl"],
      ...["--log-file=/d/client.log", "--pid-file=/d/client.pid"],
      ...["-o", "nosuid,nodev,subtype=ceph-fuse,fsname=a:6789:/data", "/t"],
    ]);
    expect(cephFuseArgs({ ...source, fsName: "b" }, place)).to.include("--client-fs=b");
    expect(cephFuseArgs({ ...source, readOnly: true }, place).at(-2)).to.match(/^nosuid,nodev,ro,/);
  });
});

describe("a cephfs volume by the kernel's client", () => {
  const at = (...monitors: string[]) => ({ ...source, monitors, client: "Kernel" as const });
  const always = ["mount_timeout=30", "norequire_active_mds", "noshare"];

  it("is told all monitors with their ports, those of the older protocol unless the newer one is meant", () => {
    const both = at("10.0.0.1", "[fd00::1]");
    expect(kernelSource(both, [])).to.equal("10.0.0.1:6789,[fd00::1]:6789:/data");
    expect(kernelSource(both, ["ms_mode=legacy"])).to.equal("10.0.0.1:6789,[fd00::1]:6789:/data");
    expect(kernelSource(both, ["ms_mode=secure"])).to.equal("10.0.0.1:3300,[fd00::1]:3300:/data");
    expect(kernelSource(at("10.0.0.1:7000", "[fd00::1]:3300"), [])).to.equal("10.0.0.1:7000,[fd00::1]:3300:/data");
    expect(kernelSource({ monitors: ["10.0.0.1"] }, [])).to.equal("10.0.0.1:6789:/");
  });

  it("speaks the newer protocol where all monitors' port is its, and nobody says how", () => {
    const modes = (monitors: string[], ...options: string[]) =>
      kernelOptions(at(...monitors), options).filter((option) => option.startsWith("ms_mode="));
    expect(modes(["10.0.0.1:3300", "[fd00::1]:3300"])).to.deep.equal(["ms_mode=prefer-crc"]);
    expect(modes(["10.0.0.1:3300"], "ms_mode=secure")).to.deep.equal(["ms_mode=secure"]);
    expect(modes(["10.0.0.1:3300", "10.0.0.2"])).to.deep.equal([]);
    expect(modes(["10.0.0.1:3300"], "ms_mode=legacy")).to.deep.equal([]);
  });

  it("has a superblock of its own, the file system and the flags that are asked for, and no key among its options", () => {
    expect(kernelOptions(at("10.0.0.1"), ["noacl"])).to.deep.equal(["noacl", ...always]);
    expect(kernelOptions({ ...at("10.0.0.1"), fsName: "b", readOnly: true }, [])).to.deep.equal([
      ...["mds_namespace=b", "ro", ...always],
    ]);
  });

  it("is found in the mount table by all its monitors, and takes other options by mounting anew", () => {
    const spec: VolumeSpec = {
      ...{ key: "k", nodeName: "n", volumeMode: "Filesystem", mountOptions: ["ms_mode=crc"] },
      source: { cephfs: at("10.0.0.1", "10.0.0.2") },
    };
    const { filesystem, options, fixedOptions, credentials } = cephfs.layout(spec);
    expect(filesystem).to.deep.equal({ types: ["ceph"], source: "10.0.0.1:3300,10.0.0.2:3300:/data", own: false });
    expect({ options, fixedOptions, credentials }).to.deep.equal({
      options: ["ms_mode=crc"],
      fixedOptions: true,
      credentials: true,
    });
  });
});

describe("what programs of Ceph say", () => {
  const rows: [string, number | undefined][] = [
    ["ceph-fuse[7]: starting ceph client\nceph-fuse[7]: ceph mount failed with (13) Permission denied", 13],
    ["ceph-fuse[7]: ceph mount failed with (110) Connection timed out", 110],
    ["client.0 authentication failed: (1) Operation not permitted", 1],
    ["nothing of it", undefined],
    ["process (7) went", undefined],
  ];
  for (const [words, errno] of rows)
    it(`${errno}: ${words.slice(-40)}`, () => expect(cephErrno(words)).to.equal(errno));

  it("is a user that is not let in by EPERM and EACCES alone", () => {
    const refused = refusedUser(rows[0]?.[0] ?? "", "a:/", source);
    expect(refused).to.include({ reason: "CredentialsRefused", errorClass: "final" });
    expect(refused?.message).to.contain("client.admin with the key of Secret s/ceph");
    expect(refused?.message).to.contain("(ceph mount failed with (13) Permission denied)");
    expect(refusedUser(rows[1]?.[0] ?? "", "a:/", source)).to.equal(undefined);
  });
});
