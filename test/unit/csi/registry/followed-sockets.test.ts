import { expect } from "chai";
import { FollowedSockets } from "../../../../src/csi/registry/followed-sockets.ts";
import type { SocketFile, Sockets } from "../../../../src/host/ports/sockets.ts";
import type { Timers } from "../../../../src/ports.ts";
import { RememberingLog } from "../remembering-log.ts";

/** Reads that a test ends, and timers that it lets run. */
function world() {
  const reads: { resolve(sockets: readonly SocketFile[]): void; reject(error: Error): void }[] = [];
  const timers: { ms: number; action: () => void }[] = [];
  const seen: number[] = [];
  const log = new RememberingLog();
  let unavailable: string | undefined;
  let change = () => {};
  const fakeSockets: Sockets = {
    kindOf: () => Promise.resolve(undefined),
    watch: (_directory, onChange) => {
      change = onChange;
      return {
        read: () => new Promise((resolve, reject) => reads.push({ resolve, reject })),
        unavailable: () => unavailable,
        close: () => {},
      };
    },
  };
  const fakeTimers: Timers = {
    after(ms, action) {
      const timer = { ms, action };
      timers.push(timer);
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
    },
  };
  const followed = new FollowedSockets({
    system: { timers: fakeTimers, random: { next: () => 0.5, uuid: () => "" } },
    log,
    sockets: fakeSockets,
    directory: "/plugins",
    onSeen: (sockets) => seen.push(sockets.length),
  });
  const setDeaf = (why: string | undefined) => {
    unavailable = why;
  };
  return { followed, reads, timers, seen, log, setDeaf, change: () => change() };
}

const one = [{ path: "/plugins/a", identity: "1" }];
const settled = () => new Promise((resolve) => setImmediate(resolve));
const warning = "the registration directory of CSI drivers is not followed";

describe("following a directory of sockets", () => {
  it("looks again once for all that is told during a look", async () => {
    const { followed, reads, seen, change, timers } = world();
    followed.look();
    change();
    change();
    expect(reads).to.have.length(1);
    reads[0]?.resolve([]);
    await settled();
    expect([reads.length, timers.length]).to.deep.equal([2, 0]);
    reads[1]?.resolve(one);
    await settled();
    expect([seen, reads.length]).to.deep.equal([[0, 1], 2]);
  });

  it("looks from time to time when nobody tells of anything", async () => {
    const { followed, reads, timers } = world();
    followed.look();
    reads[0]?.resolve([]);
    await settled();
    expect(timers.map(({ ms }) => ms)).to.deep.equal([25_000]);
    timers[0]?.action();
    expect(reads).to.have.length(2);
  });

  it("says nothing seen when it could not look, says why once, and tries again", async () => {
    const { followed, reads, timers, seen, log } = world();
    followed.look();
    for (let look = 0; look < 3; look++) {
      reads[look]?.reject(new Error("EIO"));
      await settled();
      timers.at(-1)?.action();
    }
    expect([seen, log.count(warning)]).to.deep.equal([[], 1]);
    expect(log.of(warning)).to.deep.equal({ directory: "/plugins", why: "it cannot be read: EIO" });
    reads[3]?.resolve(one);
    await settled();
    expect(seen).to.deep.equal([1]);
  });

  it("says that changes are seen late where the kernel tells of none", async () => {
    const { followed, reads, seen, log, setDeaf } = world();
    setDeaf("inotify_add_watch: ENOSPC");
    followed.look();
    reads[0]?.resolve(one);
    await settled();
    expect([seen, log.of(warning)?.["why"]]).to.deep.equal([[1], "changes are seen late: inotify_add_watch: ENOSPC"]);
  });

  it("sees nothing any more once it was stopped", async () => {
    const { followed, reads, timers, seen, change } = world();
    followed.look();
    followed.stop();
    reads[0]?.resolve(one);
    await settled();
    change();
    await settled();
    expect([seen, timers.length, reads.length]).to.deep.equal([[], 0, 1]);
  });
});
