import { expect } from "chai";
import { counted, entryOf, linesOf, mostEntries, refusePath } from "../../../../../src/host/linux/git/tree-entries.ts";

const object = "0123456789".repeat(4);
const reasonOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { reason?: string }).reason ?? String(error);
  }
};

describe("linesOf", () => {
  /** What comes of it, and how much of it was read. */
  async function read(chunks: readonly string[]): Promise<{ lines: string[]; reason?: string; taken: number }> {
    const lines: string[] = [];
    let taken = 0;
    async function* printed() {
      for (const chunk of chunks) {
        taken++;
        yield Buffer.from(chunk);
      }
    }
    try {
      for await (const line of linesOf(printed())) lines.push(line.toString());
      return { lines, taken };
    } catch (error) {
      return { lines, reason: (error as { reason: string }).reason, taken };
    }
  }

  it("are what ends with a NUL, wherever it was cut", async () => {
    expect(await read(["a\0b", "", "c\0", "\0d\0"])).to.deep.equal({ lines: ["a", "bc", "", "d"], taken: 4 });
  });

  it("refuses one that does not end, before it fills the memory", async () => {
    const chunk = "x".repeat(4096);
    const endless = await read(["a\0", ...Array.from({ length: 1000 }, () => chunk)]);
    expect(endless).to.deep.equal({ lines: ["a"], reason: "ContentRefused", taken: 4 });
    const longest = await read([chunk, chunk, "\0"]);
    expect(longest.lines.map(({ length }) => length)).to.deep.equal([8192]);
  });
});

describe("entryOf", () => {
  it("reads what git ls-tree prints of each kind", () => {
    const entry = (text: string) => entryOf(Buffer.from(text));
    expect(entry(`100644 blob ${object}      12\ta b/ü\n`)).to.deep.equal({
      kind: "file",
      object,
      size: 12,
      path: "a b/ü\n",
    });
    expect(entry(`100755 blob ${object}       0\trun`).kind).to.equal("executable");
    expect(entry(`120000 blob ${object}       3\tlink`).kind).to.equal("link");
    expect(entry(`160000 commit ${object}       -\tsub`)).to.deep.equal({
      kind: "submodule",
      object,
      size: 0,
      path: "sub",
    });
  });

  it("refuses what it does not know, names that are not UTF-8, and links that lead too far", () => {
    for (const line of [
      Buffer.from(`040000 tree ${object}       -\tdir`),
      Buffer.from(`100644 blob ${object}      12`),
      Buffer.concat([Buffer.from(`100644 blob ${object}      12\ta`), Buffer.from([0xff])]),
      Buffer.from(`120000 blob ${object}    4096\tlink`),
    ]) {
      expect(
        reasonOf(() => entryOf(line)),
        line.toString(),
      ).to.equal("ContentRefused");
    }
  });
});

describe("refusePath", () => {
  it("takes names that people have", () => {
    const paths = [
      "a",
      ".gitignore",
      ".github/x",
      "a..b",
      "...",
      "..a",
      "git",
      "dir/.gitkeep",
      "-rf",
      "git~2",
      "é\u200d",
    ];
    for (const path of paths)
      expect(
        reasonOf(() => refusePath(path)),
        path,
      ).to.equal(undefined);
  });

  it("refuses names that lead elsewhere, or that some file system takes for .git", () => {
    const leading = ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0b", "x".repeat(256), "ü".repeat(128)];
    const git = [
      ".git",
      "a/.git/config",
      ".GIT",
      ".Git.",
      ".git ",
      ".git. .",
      "git~1",
      "GIT~1",
      ".g\u200cit",
      ".git::$INDEX_ALLOCATION",
    ];
    const long = `${"a/".repeat(1024)}b`;
    for (const path of [...leading, ...git, long]) {
      expect(
        reasonOf(() => refusePath(path)),
        JSON.stringify(path),
      ).to.equal("ContentRefused");
    }
  });
});

describe("counted", () => {
  it("takes as many bytes and files as are allowed, and no more", () => {
    const count = counted(10);
    count({ size: 4 });
    count({ size: 6 });
    expect(reasonOf(() => count({ size: 1 }))).to.equal("ContentTooLarge");
    const many = counted(10);
    for (let n = 0; n < mostEntries; n++) many({ size: 0 });
    expect(reasonOf(() => many({ size: 0 }))).to.equal("ContentTooLarge");
  });
});
