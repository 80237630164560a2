import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import koffi from "koffi";

const libc = koffi.load(null);
const unshare = libc.func("int unshare(int flags)");
const setns = libc.func("int setns(int fd, int type)");
const CLONE_NEWNET = 0x40000000;

/**
 * Puts this thread, and what it starts from now on, into a network of its own, with nothing but loopback: what listens
 * on a port that cannot be chosen is in nobody's way.
 * @param addresses that it has beside 127.0.0.1
 */
export function ownNetwork(addresses: readonly string[]): Disposable {
  const before = openSync("/proc/thread-self/ns/net", "r");
  if (unshare(CLONE_NEWNET) !== 0) throw new Error("unshare(CLONE_NEWNET) failed");
  const network: Disposable = {
    [Symbol.dispose]() {
      if (setns(before, CLONE_NEWNET) !== 0) throw new Error("setns(CLONE_NEWNET) failed");
      closeSync(before);
    },
  };
  execFileSync("ip", ["link", "set", "lo", "up"]);
  for (const address of addresses) execFileSync("ip", ["address", "add", `${address}/32`, "dev", "lo"]);
  return network;
}
