import { expect } from "chai";
import { comparable } from "../../lib/docs/same-output.ts";

describe("comparable", () => {
  const same = (a: string, b: string) => expect(comparable(a)).to.equal(comparable(b));

  it("tells no numbers of processes, ports and attempts apart, wherever a line ends", () => {
    same("(TargetBusy, for 5m30s, 11\n    attempts, next attempt in 18s)", "(TargetBusy, for 9s, next attempt is due)");
    same("kill 888: nsenter -t 888 -m", "kill 7: nsenter\n  -t 7 -m");
    same("nc -vz 127.0.0.1 4000 (127.0.0.1:4000)", "nc -vz 127.0.0.1 5 (127.0.0.1:5)");
    same("7:3@4d2f439de43aa97b", "7:12@4d2f439de43aa97b");
    same("nodevolume-1d820e8a643888eee04782cea9c6be32", "nodevolume-c7f3ef36479e761bf763fc9671ce122f");
  });

  it("tells names apart, and what a step does", () => {
    for (const [a, b] of [
      ["umount /mnt/a", "umount /mnt/b"],
      ["kill 7", "kill -9 7"],
      ["nc -vz 10.0.0.1 2049", "nc -vz 10.0.0.1 2050"],
    ] as const)
      expect(comparable(a)).to.not.equal(comparable(b));
  });
});
