import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("a file system of a CSI driver that goes read-only by itself, on the real kernel (ReadOnlyFlip)", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });
  const remount = (option: "ro" | "rw", path: string) => execFileSync("mount", ["-o", `remount,${option}`, path]);
  const seen = async () => {
    const plan = await there.node.volume(volumeName);
    const { state, ready, reason } = summaryOf(plan);
    return { drift: summaryOf(plan).drift?.class, state, ready, reason };
  };
  const fine = { drift: undefined, state: "Mounted", ready: "True", reason: "Mounted" };
  const flipped = { drift: "ReadOnlyFlip", state: "Degraded", ready: "False", reason: "FilesystemReadOnly" };
  /** Of the file system as a whole, as the kernel does it after an error. */
  const stagingPath = async () => (await there.record())?.stage?.path ?? "";

  it("is said, touched by nobody, also by the next agent, and over when it is writable again", async () => {
    there.node.want(there.volume());
    expect(await seen()).to.deep.equal(fine);
    const before = there.node.mounts().map(({ id }) => id);
    remount("ro", await stagingPath());
    expect(await seen()).to.deep.equal(flipped);
    await there.node.restart();
    expect(await seen()).to.deep.equal(flipped);
    expect(there.node.mounts().map(({ id }) => id)).to.deep.equal(before);
    remount("rw", await stagingPath());
    expect(await seen()).to.deep.equal(fine);
  });

  it("is seen of what a driver publishes without staging", async () => {
    there.driver.capabilities = { ...there.driver.capabilities, stageUnstage: false };
    const own = `${there.node.path}/src`;
    execFileSync("mount", ["-t", "tmpfs", "own", own]);
    there.driver.directory = own;
    there.node.want(there.volume());
    expect(await seen()).to.deep.equal(fine);
    remount("ro", own);
    expect(await seen()).to.deep.equal(flipped);
  });

  it("is none of what is mounted read-only from the start, or is to be", async () => {
    const source = { csi: { driver: there.driver.name, volumeHandle: "vol-1", readOnly: true } };
    there.node.want(there.volume({ source }));
    await there.node.converge();
    remount("ro", await stagingPath());
    expect(await seen()).to.deep.equal(fine);
    expect((await there.released()).phase).to.equal("released");
    there.driver.directory = `${there.node.path}/src`;
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "own", there.driver.directory]);
    there.node.want(there.volume({ generation: 3 }));
    expect(await seen()).to.deep.equal(fine);
  });
});
