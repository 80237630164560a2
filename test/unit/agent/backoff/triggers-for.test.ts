import { expect } from "chai";
import { Backoff } from "../../../../src/agent/backoff/backoff.ts";
import { changedMounts, concerns, triggersFor, type Waiter } from "../../../../src/agent/backoff/triggers-for.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import type { Reason } from "../../../../src/api/reasons.ts";
import { VolumeError, type WaitingOn } from "../../../../src/errors.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, prefix, record, volume, wanted } from "../../../lib/builders/plan-world.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/host", csiDir: "/csi" };
const target = asMountPath(`${prefix}/a`);
const stage: Operation = { volume, kind: "stage" };
const publish: Operation = { volume, kind: "publish", path: target };
const unpublish: Operation = { volume, kind: "unpublish", path: target, unmountMode: "Normal" };
const unstage: Operation = { volume, kind: "unstage", unmountMode: "Normal" };

const hostPath = { hostPath: { path: "/srv/x" } };

function waiter(operation: Operation, reason: Reason, more: { on?: WaitingOn; child?: boolean } = {}): Waiter {
  const { on, child } = more;
  const error = new VolumeError(reason, "transient", "why", { heldBy: [41, 42, 43, 44, 45], ...(on && { on }) });
  const failure = new Backoff(virtualSystem()).failed(operation, 1, error);
  const records = child === true ? [record({ child: { pid: 7, startTime: 9 } })] : [];
  const path = "path" in operation ? operation.path : undefined;
  return { path, failure, volume: planned({ intents: [wanted({ source: hostPath })], records }) };
}

const source = { kind: "path", place: { root: "/host", path: "/srv/x", links: "follow" } };
const written = { kind: "path", place: { ...source.place, written: true } };
const targetPath = { kind: "path", place: { root: "/", path: target, links: "refuse" } };
const processes = [41, 42, 43, 44].map((pid) => ({ kind: "process", process: { pid } }));
const child = { kind: "process", process: { pid: 7, startTime: 9 } };

describe("triggersFor", () => {
  const sources: readonly (readonly [Operation, Reason, readonly object[]])[] = [
    [stage, "SourceNotFound", [source]],
    [publish, "SourceNotFound", [source]],
    [stage, "SourceDiffers", [source]],
    [stage, "FilesystemMissing", [written, { kind: "devices" }]],
    [publish, "SymlinkInPath", [source, targetPath]],
    [stage, "SymlinkInPath", [source]],
    [publish, "TargetNotDirectory", [targetPath]],
    [stage, "ProcessLimitReached", [{ kind: "room" }]],
    [unstage, "DeviceBusy", [written, ...processes, { kind: "devices" }]],
    [unpublish, "TargetBusy", processes],
    [unpublish, "StillReferenced", processes],
    [stage, "ServerUnreachable", []],
    [stage, "SetUpFailed", []],
  ];
  for (const [operation, reason, expected] of sources) {
    it(`${operation.kind} that fails with ${reason} waits for ${JSON.stringify(expected)}`, () => {
      expect(triggersFor(waiter(operation, reason), settings)).to.deep.equal(expected);
    });
  }

  it("waits for a child that was given up by its pid and start time", () => {
    expect(triggersFor(waiter(stage, "OperationAbandoned", { child: true }), settings)[0]).to.deep.equal(child);
  });

  for (const operation of [stage, unstage]) {
    it(`${operation.kind} that lacks a driver's program waits for its path, which no spec has to name`, () => {
      const on = { kind: "Program", name: "/exec/v~d/d" };
      const place = { root: "/host", path: "/exec/v~d/d", links: "follow", written: true };
      expect(triggersFor(waiter(operation, "DriverMissing", { on }), settings)).to.deep.equal([
        { kind: "path", place },
      ]);
      expect(triggersFor(waiter(operation, "DriverMissing"), settings)).to.deep.equal([]);
    });
  }

  it("names the path of the node, and never what stands before it for the agent", () => {
    const [path] = triggersFor(waiter(stage, "SourceNotFound"), settings);
    expect(path).to.deep.equal(source);
  });
});

describe("concerns", () => {
  const mount = (more: Partial<MountEntry>) => entry({ id: 9, device: "8:9", point: "/", ...more });
  const cases: readonly (readonly [string, Waiter, Parameters<typeof mount>[0], boolean])[] = [
    ["a mount beneath a busy target", waiter(unpublish, "TargetBusy"), { point: `${target}/sub` }, true],
    ["a mount over a directory above it", waiter(unpublish, "TargetBusy"), { point: prefix }, true],
    ["a mount elsewhere", waiter(unpublish, "TargetBusy"), { point: "/srv" }, false],
    [
      "a mount that the failure names",
      waiter(unstage, "StillReferenced", { on: { kind: "Mount", name: "/srv/y" } }),
      { point: "/srv/y" },
      true,
    ],
    [
      "a mount of the device",
      waiter(stage, "DeviceBusy", { on: { kind: "Device", name: "/host/dev/sdb" } }),
      { point: "/y", source: "/dev/sdb" },
      true,
    ],
    [
      "a mount of another device",
      waiter(stage, "DeviceBusy", { on: { kind: "Device", name: "/host/dev/sdb" } }),
      { point: "/y", source: "/dev/sdc" },
      false,
    ],
    ["any mount, where no mount is waited for", waiter(stage, "SourceNotFound"), { point: target }, false],
  ];
  for (const [what, who, more, expected] of cases) {
    it(`${expected ? "is" : "is not"} so of ${what}`, () => {
      expect(concerns(who, mount(more))).to.equal(expected);
    });
  }
});

describe("changedMounts", () => {
  const [a, b, c] = ["/a", "/b", "/c"].map((point, i) => entry({ id: i + 1, point }));
  const tableOf = (...entries: (typeof a)[]) => new MountTable(entries.flatMap((mount) => mount ?? []));

  it("has those that came and went, also between tables that know nothing of each other", () => {
    const points = changedMounts(tableOf(a, b), tableOf(b, c)).map(({ point }) => point);
    expect(points).to.have.members(["/a", "/c"]);
    expect(changedMounts(tableOf(a, b), tableOf(a, b))).to.deep.equal([]);
  });

  it("has both of two mounts with one id, which the kernel gives again at once", () => {
    const again = a && { ...a, device: "0:99" };
    expect(changedMounts(tableOf(a), tableOf(again))).to.have.length(2);
  });
});
