import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { linuxSockets } from "../../../src/host/linux/files/linux-sockets.ts";
import type { WatchedSockets } from "../../../src/host/ports/sockets.ts";
import { systemTimers } from "../../../src/system.ts";

describe("unix sockets of a directory", () => {
  let directory: string;
  let tree: WatchedSockets;
  let heard: Promise<void>;
  const servers = new Set<Server>();
  const sockets = linuxSockets(systemTimers);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-sockets-"));
    heard = new Promise((resolve) => {
      tree = sockets.watch(join(directory, "all"), resolve);
    });
  });
  afterEach(() => {
    tree.close();
    for (const server of servers) server.close();
    servers.clear();
    rmSync(directory, { recursive: true, force: true });
  });

  const listen = (path: string) =>
    new Promise<void>((resolve) => {
      const server = createServer();
      servers.add(server);
      server.listen(join(directory, path), resolve);
    });
  const read = async () => (await tree.read()).map(({ path }) => path.slice(directory.length + 1));

  /** Resolves when a new file would be younger: the kernel's times of birth go in steps of some milliseconds. */
  async function laterThan(path: string): Promise<void> {
    const probe = join(directory, "probe");
    const { birthtimeNs } = statSync(path, { bigint: true });
    for (let born = birthtimeNs; born <= birthtimeNs; born = statSync(probe, { bigint: true }).birthtimeNs) {
      rmSync(probe, { force: true });
      await writeFile(probe, "");
    }
  }

  it("are those in it and beneath, oldest first, through links to sockets and not to directories", async () => {
    mkdirSync(join(directory, "all", "sub"), { recursive: true });
    mkdirSync(join(directory, "outside"));
    for (const name of ["all/sub/z", "all/b", "all/a"]) {
      await listen(name);
      await laterThan(join(directory, name));
    }
    await listen("outside/x");
    symlinkSync("../outside/x", join(directory, "all", "link"));
    symlinkSync("../outside", join(directory, "all", "directory"));
    symlinkSync("circle", join(directory, "all", "circle"));
    symlinkSync("nowhere", join(directory, "all", "dangling"));
    writeFileSync(join(directory, "all", "file"), "");
    expect(await read()).to.deep.equal(["all/sub/z", "all/b", "all/a", "all/link"]);
    expect(tree.unavailable()).to.equal(undefined);
  });

  it("have another identity when the file is another", async () => {
    mkdirSync(join(directory, "all"));
    await listen("all/a");
    const [before] = await tree.read();
    const [again] = await tree.read();
    expect(again).to.deep.equal(before);
    rmSync(join(directory, "all", "a"));
    await listen("all/a");
    const [after] = await tree.read();
    expect(after?.path).to.equal(before?.path);
    expect(after?.identity).to.not.equal(before?.identity);
  });

  it("are none where there is no directory, and are heard of when it comes", async () => {
    expect(await read()).to.deep.equal([]);
    mkdirSync(join(directory, "all"));
    await heard;
    await listen("all/a");
    expect(await read()).to.deep.equal(["all/a"]);
  });

  it("are none where a file stands in the directory's place", async () => {
    writeFileSync(join(directory, "all"), "");
    expect(await read()).to.deep.equal([]);
  });

  it("are not read in part: too many are an error", async () => {
    for (let number = 0; number < 256; number++) mkdirSync(join(directory, "all", String(number)), { recursive: true });
    const error = await tree.read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(String(error)).to.include("more than 256 sockets and directories");
  });

  it("are told from other files", async () => {
    await listen("socket");
    writeFileSync(join(directory, "file"), "");
    const kinds = await Promise.all(["socket", "file", "none"].map((name) => sockets.kindOf(join(directory, name))));
    expect(kinds).to.deep.equal(["socket", "other", undefined]);
  });
});
