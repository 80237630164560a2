import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { assert } from "chai";

/**
 * Calls of functions a run: 40,000 when this was written. It is counted, not timed, so that it is the same whatever
 * else a machine does, and has room for what is still to be built. Who gets here finds what has grown by the command
 * below.
 */
const mostCalls = 48_000;
const command = ["test/sim/speed.ts", "--calls", "--seeds", "20", "--top", "0"];

describe("the speed of the simulator", function () {
  this.timeout(300_000);

  it(`takes at most ${mostCalls} calls of functions for a run`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, command);
    console.log(`      ${stdout.trim()}`);
    const calls = Number(/^([\d.]+) calls a run$/m.exec(stdout)?.[1]);
    assert.isAbove(calls, 10_000, "they were not counted");
    assert.isAtMost(calls, mostCalls, `what is called most: node ${command.slice(0, 2).join(" ")}`);
  });
});
