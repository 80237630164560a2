import { SourceMap } from "node:module";
import { expect } from "chai";
import { timesOf } from "../../../hack/bench/in-agent/cpu-profile.ts";
import { callsIn } from "../../../hack/bench/in-agent/traced.ts";
import { profileText } from "../../../hack/bench/report/profile-text.ts";

/** A bundle of one line: its first ten columns are ours, the others a library's. */
const map = new SourceMap({
  version: 3,
  file: "bundle.cjs",
  sources: ["../src/agent/loop.ts", "../node_modules/koffi/index.js"],
  sourcesContent: [],
  sourceRoot: "",
  names: [],
  mappings: "AAAA,UCAA",
});

describe("the profile of the benchmarks", () => {
  it("timesOf counts what is not ours for who has called it, and V8's own by its name", () => {
    const frame = (functionName: string, columnNumber: number, url = "file:///dist/bundle.cjs") => {
      return { functionName, scriptId: "1", url, lineNumber: 0, columnNumber };
    };
    const times = timesOf(
      {
        nodes: [
          { id: 1, callFrame: frame("(root)", 0, ""), children: [2, 5, 6] },
          { id: 2, callFrame: frame("#look", 3), children: [3, 4] },
          { id: 3, callFrame: frame("call", 12) },
          { id: 4, callFrame: frame("readSync", 0, "node:fs") },
          { id: 5, callFrame: frame("(idle)", 0, "") },
          { id: 6, callFrame: frame("processTimers", 0, "node:internal/timers") },
        ],
        startTime: 0,
        endTime: 1,
        samples: [2, 3, 4, 5, 6],
        timeDeltas: [1000, 2000, 4000, 8000, 16_000],
      },
      map,
    );
    expect([...times]).to.deep.equal([
      ["#look (src/agent/loop.ts)", 7],
      ["idle", 8],
      ["Node itself", 16],
    ]);
  });

  it("callsIn reads what strace prints, without its sum", () => {
    const text =
      "syscall              calls\n----- ---------\numount2  4000\nsyscall_0x1c9        12\n----- ----\ntotal 4012\n";
    expect([...callsIn(text)]).to.deep.equal([
      ["umount2", 4000],
      ["syscall_0x1c9", 12],
    ]);
  });

  it("profileText has a share of the thread's time, and counts a volume; what is rare goes into the last line, or not at all", () => {
    const phase = {
      ms: 100.4,
      times: [
        ["a", 90],
        ["b", 9.5],
        ["c", 0.5],
      ],
      counts: [["status writes", 200]],
    } as const;
    const text = profileText({
      volumes: 200,
      mount: { ...phase, calls: [["openat2", 400]] },
      unmount: {
        ...phase,
        calls: [
          ["umount2", 800],
          ["mmap", 1],
        ],
      },
    });
    expect(text).to.include("| the agent's thread, unmount: 100 ms of 200 volumes | share | ms a volume |");
    expect(text).to.include("| a | 90.0 % | 0.450 |\n| b | 9.5 % | 0.048 |\n| all else | 0.5 % | 0.003 |");
    expect(text).to.include("| status writes | 1.00 | 1.00 |");
    expect(text).to.include("| umount2 | 0.00 | 4.00 |\n| openat2 | 2.00 | 0.00 |");
    expect(text).not.to.include("mmap");
  });
});
