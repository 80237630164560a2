// Fills memory with small pieces, lets go of all but the last of each thousand, and prints how much it has before and
// after it gave back what it could, in KiB.
import { readFileSync } from "node:fs";
import { memoryReturner } from "../../../../src/host/linux/syscall/give-back-memory.ts";

const giveBack = memoryReturner();
const pieces = Array.from({ length: 40_000 }, () => Buffer.allocUnsafeSlow(2_000).fill(1));
const kept = pieces.filter((_, i) => i % 1_000 === 999);
pieces.length = 0;
const before = resident();
giveBack();
console.log(JSON.stringify({ before, after: resident(), kept: kept.length }));

function resident(): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]);
}
