import { expect } from "chai";
import { Backoff } from "../../../../src/agent/backoff/backoff.ts";
import { RetryTriggers } from "../../../../src/agent/backoff/retry-triggers.ts";
import { failureOf } from "../../../../src/agent/model/failure.ts";
import { asMountPath, asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { WatchUnavailable } from "../../../../src/host/ports/wakeups.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planWorld, prefix, wanted } from "../../../lib/builders/plan-world.ts";
import { type VirtualSystem, virtualSystem } from "../../kube/virtual-system.ts";
import { FakeWakes } from "../fake-wakes.ts";

const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/host", csiDir: "/csi" };
const intentOf = (name: string, path: string) =>
  wanted({ name, source: { hostPath: { path } }, mounts: [{ path: `${prefix}/${name}` }] });
const stage = (volume = "v"): Operation => ({ volume: asVolumeName(volume), kind: "stage" });
const missing = new VolumeError("SourceNotFound", "final", "there is no /srv/x");

describe("RetryTriggers", () => {
  let system: VirtualSystem;
  let backoff: Backoff;
  let ports: FakeWakes;
  let retryTriggers: RetryTriggers;
  let looks: number;
  let intents = [intentOf("v", "/srv/x")];
  const running = new Set<string>();
  const counted: string[] = [];
  let unwatched: ReadonlyMap<WatchUnavailable, number>;

  beforeEach(() => {
    system = virtualSystem();
    backoff = new Backoff(system);
    ports = new FakeWakes();
    looks = 0;
    intents = [intentOf("v", "/srv/x")];
    running.clear();
    counted.length = 0;
    unwatched = new Map();
    retryTriggers = new RetryTriggers({
      system,
      wakeups: ports,
      settings,
      backoff,
      running: () => running,
      trigger: () => looks++,
      metrics: { woken: (by) => counted.push(by), unwatched: (sources) => (unwatched = sources) },
    });
  });

  const table = (...points: string[]) =>
    new MountTable(["/", ...points].map((point, i) => entry({ id: i + 1, parent: i === 0 ? 0 : 1, point })));
  const follow = (mounts = table()) =>
    retryTriggers.planned(planWorld({ intents, failures: backoff.failures }), mounts);
  const fail = (operation = stage(), error = missing) => {
    backoff.failed(operation, 1, error);
    follow();
  };
  const delay = (operation = stage()) =>
    (failureOf(backoff.failures, operation)?.nextAt ?? 0) - system.clock.monotonic();

  it("listens to nothing while nothing has failed", () => {
    follow();
    expect(ports.heard).to.deep.equal([]);
  });

  it("ends the delay of what waits for the event, and looks again", () => {
    fail();
    expect(ports.heard).to.deep.equal(["path /host /srv/x follow"]);
    expect(delay()).to.be.above(0);
    ports.wake();
    expect(delay()).to.equal(0);
    expect(looks).to.equal(1);
    expect(counted).to.deep.equal(["path"]);
  });

  it("keeps listening without a gap while it fails again, and stops when it has succeeded", () => {
    fail();
    ports.wake();
    fail();
    follow();
    expect(ports.begun).to.equal(1);
    backoff.succeeded(stage());
    follow();
    expect(ports.heard).to.deep.equal([]);
  });

  it("listens for each target of a volume that failed", () => {
    const [a, b] = [asMountPath(`${prefix}/a`), asMountPath(`${prefix}/b`)];
    intents = [wanted({ name: "v", source: { hostPath: { path: "/srv/x" } }, mounts: [{ path: a }, { path: b }] })];
    const noDirectory = new VolumeError("TargetNotDirectory", "final", "a file is there");
    const publish = (path: typeof a): Operation => ({ volume: asVolumeName("v"), kind: "publish", path });
    fail(publish(a), noDirectory);
    fail(publish(b), noDirectory);
    expect(ports.heard).to.deep.equal([`path / ${a} refuse`, `path / ${b} refuse`]);
  });

  it("does not listen for a spec that has changed since", () => {
    backoff.failed(stage(), 0, missing);
    follow();
    expect(ports.heard).to.deep.equal([]);
  });

  it("shares one source between all who wait for the same", () => {
    intents = [intentOf("v", "/srv/x"), intentOf("w", "/srv/x")];
    backoff.failed(stage("v"), 1, missing);
    fail(stage("w"));
    expect(ports.begun).to.equal(1);
    ports.wake();
    expect([delay(stage("v")), delay(stage("w"))]).to.deep.equal([0, 0]);
    backoff.succeeded(stage("v"));
    fail(stage("w"));
    ports.wake();
    expect(delay(stage("w")), "the one that still waits").to.equal(0);
  });

  it("listens to 512 sources at most, and counts the others", () => {
    intents = Array.from({ length: 600 }, (_, i) => intentOf(`v${i}`, `/srv/${i}`));
    for (const { metadata } of intents) backoff.failed(stage(metadata.name), 1, missing);
    follow();
    expect(ports.listeners.size).to.equal(512);
    expect([...unwatched], "the others").to.deep.equal([["limit", 88]]);
    intents = intents.slice(0, 512);
    follow();
    expect([...unwatched]).to.deep.equal([]);
  });

  it("lets no stream of events undo the backoff: eight are free, then four a minute, and none is lost", async () => {
    fail();
    let attempts = 0;
    const storm = async (ms: number, everyMs: number) => {
      for (const end = system.clock.monotonic() + ms; system.clock.monotonic() < end; await system.advance(everyMs)) {
        ports.wake();
        if (delay() > 0) continue;
        attempts++;
        fail();
      }
    };
    await storm(1_000, 10);
    expect(attempts).to.equal(8 + 1); // and one by the backoff, whose delay did not grow
    attempts = 0;
    await storm(600_000, 1_000);
    expect(attempts).to.be.within(40, 62);
  });

  it("honours a wake beyond the budget when there is room again", async () => {
    fail();
    for (let i = 0; i < 8; i++) {
      ports.wake();
      fail();
    }
    for (let i = 0; i < 10; i++) {
      await system.advance(delay());
      fail(); // by the backoff, so that its delay is longer than the budget takes
    }
    for (let i = 0; i < 8; i++) {
      ports.wake();
      fail();
    }
    ports.wake();
    const before = looks;
    expect(delay()).to.be.above(20_000);
    await system.advance(15_000);
    expect([delay(), looks - before]).to.deep.equal([0, 1]);
  });

  it("a wake during an attempt ends the delay of that attempt's failure: it may not have seen what happened", () => {
    fail();
    running.add("v");
    ports.wake();
    expect(looks).to.equal(0);
    running.clear();
    fail();
    expect([delay(), looks]).to.deep.equal([0, 1]);
  });

  it("a wake during an attempt that succeeds is forgotten", () => {
    fail();
    running.add("v");
    ports.wake();
    running.clear();
    backoff.succeeded(stage());
    follow();
    fail();
    expect([delay() > 0, looks]).to.deep.equal([true, 0]);
  });

  it("ends the delay of what waits for a mount when that mount goes, and of nothing else", () => {
    const path = asMountPath(`${prefix}/v`);
    const unpublish: Operation = { volume: asVolumeName("v"), kind: "unpublish", path, unmountMode: "Normal" };
    backoff.failed(unpublish, 1, new VolumeError("TargetBusy", "transient", "in use"));
    follow(table(`${path}/beneath`));
    follow(table(`${path}/beneath`, "/elsewhere"));
    expect([delay(unpublish) > 0, looks]).to.deep.equal([true, 0]);
    follow(table("/elsewhere"));
    expect([delay(unpublish), looks]).to.deep.equal([0, 1]);
  });

  it("ends the delay of volumes whose content has changed", () => {
    const configMap = { namespace: "default", name: "settings" };
    intents = [
      wanted({ name: "v", source: { configMap } }),
      wanted({ name: "w", source: { configMap: { ...configMap, name: "x" } } }),
    ];
    const noKey = new VolumeError("KeyNotFound", "final", "no key");
    backoff.failed(stage("v"), 1, noKey);
    fail(stage("w"), noKey);
    retryTriggers.contentChanged({ kind: "ConfigMap", ...configMap, optional: false });
    expect([delay(stage("v")), delay(stage("w")) > 0]).to.deep.equal([0, true]);
  });

  it("ends the delay of volumes whose CSI driver came, and of no other failure of theirs", () => {
    const csi = (driver: string) => ({ driver, volumeHandle: "v", accessMode: "ReadWriteOnce" as const });
    const of = (name: string, driver: string) =>
      wanted({ name, source: { csi: csi(driver) }, grant: { id: "g", csi: csi(driver) } });
    intents = [of("v", "a.example"), of("w", "b.example"), of("x", "a.example")];
    for (const name of ["v", "w"])
      backoff.failed(stage(name), 1, new VolumeError("DriverNotRegistered", "transient", ""));
    fail(stage("x"), new VolumeError("OptionsRefused", "final", ""));
    retryTriggers.driverChanged("a.example");
    expect(["v", "w", "x"].map((name) => delay(stage(name)) === 0)).to.deep.equal([true, false, false]);
  });

  it("says once in the log, and in numbers, what cannot be heard", () => {
    intents = [intentOf("v", "/srv/x"), intentOf("w", "/srv/y")];
    backoff.failed(stage("v"), 1, missing);
    fail(stage("w"));
    for (const listener of ports.listeners.values()) listener.unavailable("limit");
    expect([...unwatched]).to.deep.equal([["limit", 2]]);
    expect(system.lines.filter(({ level }) => level === "warn")).to.have.length(1);
    backoff.succeeded(stage("w"));
    follow();
    expect([...unwatched]).to.deep.equal([["limit", 1]]);
    ports.listeners.get("path /host /srv/x follow")?.unavailable(undefined);
    expect([...unwatched]).to.deep.equal([]);
  });

  it("followChildren looks again when a child that was given up has ended", () => {
    const child = { pid: 7, startTime: 1 };
    retryTriggers.followChildren([child]);
    retryTriggers.followChildren([child]);
    expect([ports.heard, ports.begun]).to.deep.equal([["process 7"], 1]);
    ports.wake();
    expect(looks).to.equal(1);
    retryTriggers.followChildren([]);
    expect(ports.heard).to.deep.equal([]);
  });

  it("stop listens to nothing any more, and leaves no timer", () => {
    fail();
    for (let i = 0; i < 9; i++) {
      ports.wake();
      if (i < 8) fail();
    }
    fail();
    ports.wake();
    retryTriggers.followChildren([{ pid: 7, startTime: 1 }]);
    expect(system.pendingTimers).to.equal(1);
    retryTriggers.stop();
    expect([ports.heard, system.pendingTimers]).to.deep.equal([[], 0]);
  });
});
