import { expect } from "chai";
import { createFileTokenSource } from "../../../../src/kube/client/token-source.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("createFileTokenSource", () => {
  function story(files: (string | Error)[]) {
    const system = virtualSystem();
    let reads = 0;
    const readFile = () => {
      const next = files[Math.min(reads, files.length - 1)] ?? "";
      reads += 1;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    };
    const source = createFileTokenSource({ readFile, path: "/t", clock: system.clock });
    return { system, source, reads: () => reads };
  }

  it("reads the file once for 60 s, and then again", async () => {
    const { system, source, reads } = story(["a\n", "b\n"]);
    expect(await source.current()).to.equal("a");
    await system.advance(59_999);
    expect(await source.current()).to.equal("a");
    expect(reads()).to.equal(1);
    await system.advance(1);
    expect(await source.current()).to.equal("b");
  });

  it("reads at once when the server refused the token, once for many callers", async () => {
    const { source, reads } = story(["a", "b"]);
    const token = await source.current();
    source.refused(token);
    expect(await Promise.all([source.current(), source.current()])).to.deep.equal(["b", "b"]);
    expect(reads()).to.equal(2);
  });

  it("does not read again when a token is refused that is no longer the current one", async () => {
    const { source, reads } = story(["a"]);
    await source.current();
    source.refused("older");
    await source.current();
    expect(reads()).to.equal(1);
  });

  it("keeps the last token while the file is away, and rejects if there never was one", async () => {
    const { system, source } = story(["a", new Error("ENOENT")]);
    await source.current();
    await system.advance(60_000);
    expect(await source.current()).to.equal("a");

    const never = story([new Error("ENOENT"), "late"]).source;
    const failure = await never.current().catch((error: Error) => error.message);
    expect(failure).to.equal("ENOENT");
    expect(await never.current()).to.equal("late");
  });
});
