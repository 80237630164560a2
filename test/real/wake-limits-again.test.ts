import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { expect } from "chai";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { until } from "../../hack/lib/until.ts";
import { ifThere } from "../../src/host/linux/syscall/errno.ts";
import { loadWakeCalls, type WakeCalls } from "../../src/host/linux/syscall/inotify-calls.ts";
import { DeviceWakes } from "../../src/host/linux/wakeups/wake-devices.ts";
import { watchProcess } from "../../src/host/linux/wakeups/wake-process.ts";
import type { Timers } from "../../src/ports.ts";
import { systemClock, systemTimers } from "../../src/system.ts";
import { Heard } from "../lib/asserts/heard.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { scratch } from "./scratch.ts";

describe("processes and devices at a limit, on the real kernel", () => {
  const real = loadWakeCalls();
  const started: ChildProcess[] = [];
  let code: string | undefined;
  let asked = 0;
  /** What waits for longer than this, in milliseconds, is done then. */
  const soonMs = 100;
  const timers: Timers = { after: (ms, action) => systemTimers.after(Math.min(ms, soonMs), action) };

  beforeEach(() => {
    code = "EMFILE";
    asked = 0;
  });
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
  });

  const limited = <A extends readonly unknown[]>(call: (...args: A) => number) => {
    return (...args: A) => {
      asked += 1;
      if (code !== undefined) throw Object.assign(new Error(code), { code });
      return call(...args);
    };
  };
  const calls: WakeCalls = {
    ...real,
    pidfdOpen: limited(real.pidfdOpen),
    openUevents: limited(real.openUevents),
  };
  const devices = () => new DeviceWakes({ calls, timers, clock: systemClock });
  const running = () => {
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    started.push(child);
    return child;
  };
  const openSockets = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      const link = ifThere(() => readlinkSync(`/proc/self/fd/${fd}`));
      return link?.startsWith("socket:") === true;
    }).length;

  it("process: is unavailable at the limit of open files, tries again, and hears when there is room", async () => {
    const child = running();
    using heard = new Heard((listener) => watchProcess({ calls, timers }, { pid: pidOf(child) }, listener));
    await until("it to be unavailable", 10_000, () => heard.unavailable === "limit");
    await until("it to have tried twice more", 10_000, () => asked >= 3);
    code = undefined;
    await until("it to be heard again", 10_000, () => heard.unavailable === undefined);
    expect(heard.wakes).to.equal(0);
    await heard.after("a kill", () => child.kill("SIGKILL"));
  });

  it("process: tells of one that has ended while nothing was heard", async () => {
    const child = running();
    using heard = new Heard((listener) => watchProcess({ calls, timers }, { pid: pidOf(child) }, listener));
    await until("it to be unavailable", 10_000, () => heard.unavailable === "limit");
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await heard.after("room", () => {
      code = undefined;
    });
    expect(heard.unavailable).to.equal(undefined);
  });

  it("process: does not try again where the kernel has no such event, nor once nobody waits", async () => {
    code = "ENOSYS";
    using heard = new Heard((listener) => watchProcess({ calls, timers }, { pid: process.pid }, listener));
    await until("it to be unavailable", 10_000, () => heard.unavailable === "unsupported");
    expect(asked).to.equal(1);
    code = "EMFILE";
    const delays: number[] = [];
    const counted: Timers = {
      after(ms, action) {
        delays.push(ms);
        const cancel = timers.after(ms, action);
        return () => {
          delays.splice(delays.indexOf(ms), 1);
          cancel();
        };
      },
    };
    const left = new Heard((listener) => watchProcess({ calls, timers: counted }, { pid: process.pid }, listener));
    await until("it to be unavailable", 10_000, () => left.unavailable === "limit");
    const before = delays.length;
    left[Symbol.dispose]();
    expect(delays.length, "timers that are left").to.equal(before - 1);
  });

  it("devices: all who listen are unavailable at a limit, and hear again when there is room", async function () {
    need(this, "loop-devices");
    using space = scratch();
    const sockets = openSockets();
    const wakes = devices();
    using first = new Heard((listener) => wakes.watch(listener));
    using second = new Heard((listener) => wakes.watch(listener));
    await until(
      "both to be unavailable",
      10_000,
      () => first.unavailable === "limit" && second.unavailable === "limit",
    );
    await until("it to have tried again", 10_000, () => asked >= 4);
    code = undefined;
    await first.after("room: something may have come meanwhile", () => {});
    expect([first.unavailable, second.unavailable]).to.deep.equal([undefined, undefined]);
    using disks = new DisposableStack();
    await second.after("losetup", () => disks.use(loopDevice(space.path, "disk", 8)));
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    expect(openSockets()).to.equal(sockets);
  });

  it("devices: says once that the kernel has no such event, and does not try again", async () => {
    code = "EPERM";
    const wakes = devices();
    using heard = new Heard((listener) => wakes.watch(listener));
    await until("it to be unavailable", 10_000, () => heard.unavailable === "unsupported");
    code = undefined;
    using later = new Heard((listener) => wakes.watch(listener));
    await until("it to be heard when another begins to listen", 10_000, () => heard.unavailable === undefined);
    expect(later.unavailable).to.equal(undefined);
    expect(asked).to.equal(2);
  });
});
