import { expect } from "chai";
import { endingOf } from "../../../../../src/host/linux/syscall/process-ending.ts";

describe("endingOf", () => {
  const signals = { SIGKILL: 9, SIGSEGV: 11 };
  const endings: readonly [string, number, ReturnType<typeof endingOf>][] = [
    ["exit(0)", 0, { code: 0, signal: null }],
    ["exit(3)", 0x0300, { code: 3, signal: null }],
    ["exit(255)", 0xff00, { code: 255, signal: null }],
    ["killed", 9, { code: null, signal: "SIGKILL" }],
    ["crashed, with a core", 0x80 | 11, { code: null, signal: "SIGSEGV" }],
    ["a signal without a name", 40, { code: null, signal: "signal 40" }],
  ];
  for (const [what, status, ending] of endings) it(what, () => expect(endingOf(status, signals)).to.deep.equal(ending));
});
