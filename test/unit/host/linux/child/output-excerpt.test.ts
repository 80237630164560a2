import { expect } from "chai";
import { outputExcerpt } from "../../../../../src/host/linux/child/output-excerpt.ts";

/** mkfs.xfs 6.12 of a device of 71 MiB, shortened. */
const xfs = `Filesystem must be larger than 300MB.
Usage: mkfs.xfs
/* blocksize */		[-b size=num]
/* label */		[-L label (maximum 12 characters)]
/* naming */		[-n size=num,version=2|ci,ftype=0|1,parent=0|1]]
${"/* an option */		[-x num]\n".repeat(40)}`;

describe("outputExcerpt", () => {
  it("has the cause, and not how the program is called", () => {
    expect(outputExcerpt(xfs)).to.equal("Filesystem must be larger than 300MB.");
  });

  it("has how the program is called, if it says nothing else", () => {
    expect(outputExcerpt("usage: fsck [-A]\n")).to.equal("usage: fsck [-A]");
  });

  it("has the cause that stands after how the program is called", () => {
    expect(outputExcerpt("Usage: mkfs.x [options]\n  -L label\n\nmkfs.x: /dev/sdb is too small\n")).to.equal(
      "mkfs.x: /dev/sdb is too small",
    );
  });

  it("keeps what is short as it is, and nothing of nothing", () => {
    expect(outputExcerpt(" one\ntwo \n")).to.equal("one\ntwo");
    expect(outputExcerpt("\n")).to.equal("");
  });

  it("keeps whole lines of the beginning and of the end of what is long", () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}, which says something`);
    const words = outputExcerpt(lines.join("\n"));
    expect(words.length).to.be.within(400, 520);
    const [first = [], last = []] = words.split("\n…\n").map((part) => part.split("\n"));
    expect(first).to.deep.equal(lines.slice(0, first.length));
    expect(last).to.deep.equal(lines.slice(-last.length));
  });

  it("keeps the end of one long line", () => {
    expect(outputExcerpt(`a${"b".repeat(600)}c`))
      .to.match(/^b+c$/)
      .and.to.have.length(512);
  });
});
