import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { isBlocked, type ReasonInfo, reasons } from "../../../src/api/reasons.ts";

/** Entries of docs/reasons.md, by heading. */
function entries(): Map<string, string[]> {
  const text = readFileSync(join(root, "docs/reasons.md"), "utf8");
  const parts = text.split(/^### /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [heading = "", ...lines] = (part.split(/^## /m)[0] ?? "").split("\n");
      return [heading, lines.filter((line) => line !== "")];
    }),
  );
}

describe("docs/reasons.md", () => {
  const documented = entries();

  it("has an entry for every reason, and only for reasons", () => {
    expect([...documented.keys()].sort()).to.deep.equal(Object.keys(reasons).sort());
  });

  for (const [code, info] of Object.entries<ReasonInfo>(reasons)) {
    it(`says of ${code} that it is ${info.kind}`, () => {
      const lines = documented.get(code) ?? [];
      const word = { normal: "Normal.", waiting: "Waiting,", blocked: "Blocked," }[info.kind];
      expect(lines[0]?.startsWith(word), lines[0]).to.equal(true);
      expect(lines.length).to.be.within(1, 6);
      if (info.kind === "blocked") expect(lines.length, "what to do about it").to.be.at.least(2);
    });
  }

  it("says of pods that have their volume that nothing is held up", () => {
    for (const code of ["SELinuxConflict", "PodLacksGroup"])
      expect((documented.get(code) ?? []).join(" "), code).to.match(
        /^Blocked, until [^.]*\. Nothing is held up: .*volume, and runs?\./,
      );
  });

  it("has lines that fit a terminal, but for commands", () => {
    const long = [...documented.values()].flat().filter((line) => line.length > 125);
    expect(long).to.deep.equal([]);
  });
});

describe("isBlocked", () => {
  it("says whether somebody must change something", () => {
    expect(isBlocked("DeviceNotEmpty")).to.equal(true);
    expect(isBlocked("TargetBusy")).to.equal(false);
    expect(isBlocked("AllReady")).to.equal(false);
  });

  it("says no of what is no reason", () => {
    for (const code of ["", "NoSuchReason", "toString", "__proto__"]) expect(isBlocked(code), code).to.equal(false);
  });

  it("knows what ends each wait, in words that continue `until`", () => {
    for (const [code, { kind, endedBy }] of Object.entries<ReasonInfo>(reasons)) {
      if (kind !== "normal") expect(endedBy, code).to.match(/^[a-z].*[^.]$/);
    }
  });
});
