import { expect } from "chai";
import { ClientWatch } from "../../../../src/agent/health/fuse-client-watch.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { Plan } from "../../../../src/agent/model/volume-plan.ts";
import type { StageRecord } from "../../../../src/agent/model/volume-record.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { ChildProcessID } from "../../../../src/host/ports/types.ts";
import type { WakeupListener, WatchedProcess } from "../../../../src/host/ports/wakeups.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

describe("ClientWatch", () => {
  const listeners = new Map<string, WakeupListener>();
  const looks: string[] = [];
  let failing: boolean;
  let changes: number;
  let watch: ClientWatch;
  let system: ReturnType<typeof virtualSystem>;
  const keyOf = ({ pid, startTime }: WatchedProcess) => `${pid}@${startTime}`;
  const process = (of: WatchedProcess, listener: WakeupListener) => {
    listeners.set(keyOf(of), listener);
    return () => void listeners.delete(keyOf(of));
  };

  beforeEach(() => {
    listeners.clear();
    changes = 0;
    system = virtualSystem();
    looks.length = 0;
    const directories = {
      async emptyIfLarger(path: string, bytes: number) {
        looks.push(`${path} ${bytes}`);
        if (failing) throw new VolumeError("SetUpFailed", "transient", "no such file system");
      },
    };
    failing = false;
    watch = new ClientWatch({ system, wakeups: { process }, directories, onChange: () => changes++ });
  });

  function follow(client?: ChildProcessID): void {
    show({ stage: { ...(client && { client }) } });
  }

  function show(record: { readonly stage?: Pick<StageRecord, "client" | "undo"> }): void {
    const volumes = new Map([["v", { record }]]) as unknown as Plan["volumes"];
    watch.planned({ changed: new Map([[asVolumeName("v"), undefined]]), volumes });
  }

  const first = { pid: 7, startTime: 1 };

  it("listens to the process on record once, and says which one has ended", () => {
    follow(first);
    follow({ ...first });
    expect([...listeners.keys()]).to.deep.equal(["7@1"]);
    expect([...watch.ended]).to.deep.equal([]);
    listeners.get("7@1")?.woken();
    expect([...watch.ended]).to.deep.equal([["v", first]]);
    expect(changes).to.equal(1);
  });

  it("a process of the same pid that was started later is another one", () => {
    follow(first);
    listeners.get("7@1")?.woken();
    follow({ pid: 7, startTime: 2 });
    expect([...watch.ended]).to.deep.equal([]);
    expect([...listeners.keys()]).to.deep.equal(["7@2"]);
  });

  it("tells later of each that ends soon after the one before, at once of the first and of one that has lasted", async () => {
    const endAfter = async (startTime: number, lastedMs: number) => {
      follow({ pid: 7, startTime });
      await system.advance(lastedMs);
      listeners.get(`7@${startTime}`)?.woken();
      const began = system.clock.monotonic();
      while (watch.ended.size === 0) await system.advance(100);
      return system.clock.monotonic() - began;
    };
    const waits: number[] = [];
    for (const [startTime, lastedMs] of [0, 10, 10, 10, 70_000, 10].entries()) {
      waits.push(await endAfter(startTime, lastedMs));
      follow(); // what it is staged as, before the next client is started
    }
    expect(waits).to.deep.equal([0, 500, 1000, 2000, 0, 500]);
    show({});
    expect(await endAfter(6, 10), "staged for the first time").to.equal(0);
  });

  it("lets go of what is on record no more, and of everything in the end", () => {
    follow(first);
    follow();
    expect([...listeners.keys()]).to.deep.equal([]);
    follow(first);
    watch.stop();
    expect([...listeners.keys()]).to.deep.equal([]);
  });

  it("keeps the log of a client from growing while that runs, and says once that it cannot", async () => {
    show({ stage: { client: first, undo: { directory: "/state/data/k" } } });
    await system.advance(30_000);
    expect(looks).to.deep.equal(Array(2).fill("/state/data/k/client.log 1048576"));
    failing = true;
    await system.advance(60_000);
    expect(looks.length).to.equal(6);
    listeners.get("7@1")?.woken();
    await system.advance(600_000);
    expect([looks.length, system.pendingTimers], "it has ended").to.deep.equal([6, 0]);
    show({ stage: { client: { pid: 8, startTime: 1 }, undo: { directory: "/state/data/k" } } });
    show({});
    await system.advance(600_000);
    expect([looks.length, system.pendingTimers], "it is on record no more").to.deep.equal([6, 0]);
  });
});
