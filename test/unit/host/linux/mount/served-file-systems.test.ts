import { expect } from "chai";
import { servedFailure, servedFileSystems } from "../../../../../src/host/linux/mount/served-file-systems.ts";
import { Errno } from "../../../../../src/host/linux/syscall/errno.ts";
import type { FilesystemMount } from "../../../../../src/host/ports/host-ports.ts";
import { stagingAttributes } from "../../../../../src/plugins/api/volume-plugin.ts";

const key = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
const request = (fsType: string): FilesystemMount => ({
  fsType,
  source: "10.0.0.1:6789:/a",
  options: ["mds_namespace=b", "mount_timeout=30"],
  attributes: stagingAttributes,
  target: { prefix: "/", path: "/t" },
  credentials: { username: "k8s", password: key },
});

describe("a file system of a server that is mounted by system calls", () => {
  it("gets user and secret as options", () => {
    const options = servedFileSystems["ceph"]?.credentials({ username: "k8s", password: key });
    expect(options).to.deep.equal(["name=k8s", `secret=${key}`]);
  });

  for (const [errno, seconds, reason, errorClass, words] of [
    [2, 1, "ShareNotFound", "final", "no such directory: correct path"],
    [13, 1, "CredentialsRefused", "final", "client.k8s with the Secret's key"],
    [1, 1, "CredentialsRefused", "final", "(EPERM: libceph said so)"],
    [129, 1, "CredentialsRefused", "final", "(EKEYREJECTED: "],
    [113, 29, "CredentialsRefused", "final", "or has no file system b (EHOSTUNREACH"],
    [113, 30, "ServerUnreachable", "transient", "no monitor, or no MDS, has answered"],
    [110, 1, "ServerUnreachable", "transient", "no monitor, or no MDS, has answered"],
  ] as const) {
    it(`${errno} after ${seconds} s is ${reason}`, () => {
      const error = new Errno("fsconfig", errno);
      const failure = servedFailure(request("ceph"), error, "libceph said so", seconds * 1_000);
      expect(failure).to.include({ reason, errorClass });
      expect(failure?.message).to.contain("10.0.0.1:6789:/a").and.contain(words);
    });
  }

  it("never repeats a secret, whatever the kernel says", () => {
    const failure = servedFailure(request("ceph"), new Errno("fsconfig", 13), `Bad value for 'secret=${key}'`, 1);
    expect(failure?.message).to.contain("Bad value").and.not.contain(key);
  });

  it("is asked nothing of what is not one, and of what it does not know", () => {
    expect(servedFailure(request("ext4"), new Errno("fsconfig", 2), "", 1)).to.equal(undefined);
    expect(servedFailure(request("ceph"), new Errno("fsconfig", 12), "", 1)).to.equal(undefined);
  });
});
