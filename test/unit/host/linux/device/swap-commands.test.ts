import { expect } from "chai";
import { parseSwaps, swapBytes, swapFailure, swapOnArgs } from "../../../../../src/host/linux/device/swap-commands.ts";
import { swapHow } from "../../../../../src/plugins/local/swap.ts";

describe("what /proc/swaps says", () => {
  const text = [
    "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority",
    "/dev/dm-3                               partition\t8388604\t\t1024\t\t-2",
    "/swap\\040file                           file\t\t2048\t\t0\t\t5",
    "/dev/sdb\\040(deleted)                   partition\t16\t\t0\t\t32767",
    "",
  ].join("\n");

  it("is devices alone, in bytes, by the path that they had", () => {
    expect(parseSwaps(text)).to.deep.equal([
      { path: "/dev/dm-3", sizeBytes: 8388604 * 1024, usedBytes: 1024 * 1024, priority: -2 },
      { path: "/dev/sdb", sizeBytes: 16 * 1024, usedBytes: 0, priority: 32767 },
    ]);
    expect(parseSwaps("")).to.deep.equal([]);
  });
});

describe("what is said to swapon", () => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[], []],
    [["pri=0"], ["-p", "0"]],
    [
      ["discard", "pri=32767"],
      ["-p", "32767", "-d"],
    ],
    [["discard=once"], ["-donce"]],
    [["discard=pages"], ["-dpages"]],
  ];
  for (const [options, args] of cases) {
    it(`${options.join(",") || "nothing"}: ${args.join(" ")}`, () =>
      expect(swapOnArgs(swapHow(options))).to.deep.equal(args));
  }
});

describe("what swapon and swapoff fail with", () => {
  const failed = (program: "swapon" | "swapoff", code: number, stderr: string) => {
    const { reason, errorClass } = swapFailure(program, "/dev/sdb", { code, stdout: "", stderr });
    return `${reason} ${errorClass}`;
  };

  it("is told apart", () => {
    expect(failed("swapoff", 2, "swapoff: /dev/sdb: swapoff failed: Cannot allocate memory")).to.equal(
      "SwapNeeded transient",
    );
    // Busybox.
    expect(failed("swapoff", 1, "swapoff: /dev/sdb: Cannot allocate memory")).to.equal("SwapNeeded transient");
    expect(failed("swapoff", 4, "swapoff: /dev/sdb: swapoff failed: Invalid argument")).to.equal(
      "TearDownFailed transient",
    );
    expect(failed("swapon", 255, "swapon: /dev/sdb: swapon failed: Device or resource busy")).to.equal(
      "DeviceBusy transient",
    );
    expect(failed("swapon", 2, "swapon: /dev/sdb: read swap header failed")).to.equal("SetUpFailed transient");
  });
});

describe("swapBytes", () => {
  const head = (pages: number, magic = "SWAPSPACE2", pageBytes = 4096) => {
    const page = Buffer.alloc(2 * pageBytes);
    page.writeUInt32LE(1, 1024);
    page.writeUInt32LE(pages - 1, 1028);
    page.write(magic, pageBytes - 10, "latin1");
    return page;
  };

  it("is the size of the area, with its header, whatever pages the kernel has", () => {
    for (const kib of [4, 16, 64]) {
      expect(swapBytes(head(6144, "SWAPSPACE2", kib * 1024))).to.equal(6144 * kib * 1024);
    }
  });

  it("is known of what swapon takes alone", () => {
    expect(swapBytes(head(6144))).to.equal(24 * 1024 * 1024);
    expect(swapBytes(head(6144, "S1SUSPEND"))).to.equal(undefined);
    expect(swapBytes(Buffer.alloc(512))).to.equal(undefined);
  });
});
