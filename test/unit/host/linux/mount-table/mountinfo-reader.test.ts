import { expect } from "chai";
import { MountinfoReader } from "../../../../../src/host/linux/mount-table/mountinfo-reader.ts";
import { OptionLists } from "../../../../../src/host/mount-table/option-lists.ts";

const root = "1 1 0:1 / / rw - tmpfs a rw\n";
const volume = (options: string) => `2 1 0:2 / /mnt/v ${options} - tmpfs b rw\n`;

/** A mountinfo that a test writes; like the kernel, it tells of a change once. */
class FakeMountinfo {
  text = root;
  changed = false;
  failing = false;

  write(text: string): void {
    this.text = text;
    this.changed = true;
  }
  hasChanged(): boolean {
    const { changed } = this;
    this.changed = false;
    return changed;
  }
  read(): Buffer {
    if (this.failing) throw new Error("ENOMEM");
    return Buffer.from(this.text);
  }
  [Symbol.dispose](): void {}
}

describe("MountinfoReader", () => {
  const opened = (lists = new OptionLists()) => {
    const mountinfo = new FakeMountinfo();
    return { mountinfo, reader: new MountinfoReader(mountinfo, lists) };
  };

  for (const ask of ["read", "compare"] as const) {
    it(`read() throws until the text can be read again after ${ask}() could not, and never gives the table before`, () => {
      const { mountinfo, reader } = opened();
      expect(reader.read().size).to.equal(1);
      mountinfo.write(root + volume("rw"));
      mountinfo.failing = true;
      expect(() => reader[ask]()).to.throw("ENOMEM");
      expect(() => reader.read()).to.throw("ENOMEM");
      mountinfo.failing = false;
      expect(reader.read().size).to.equal(2);
    });
  }

  it("gives the table that it has while nothing is told", () => {
    const { reader } = opened();
    const first = reader.read();
    expect(reader.read()).to.equal(first);
  });

  it("optionChanges counts other options, and not equal ones in another list", () => {
    const lists = new OptionLists();
    const { mountinfo, reader } = opened(lists);
    mountinfo.write(root + volume("rw"));
    reader.read();
    for (let i = 0; i < 1_024; i++) lists.of(`made,to,forget=${i}`);
    mountinfo.write(root + volume("rw").replace(" 1 0:2", " 1 0:3"));
    reader.read();
    expect(reader.optionChanges).to.equal(0);
    mountinfo.write(root + volume("ro").replace(" 1 0:2", " 1 0:3"));
    reader.read();
    expect(reader.optionChanges).to.equal(1);
  });
});
