import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { makePrefixes } from "../../src/host/linux/path/prefixes.ts";
import type { Logger } from "../../src/ports.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

describe("makePrefixes", () => {
  let place: Scratch;
  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    place = scratch();
  });
  afterEach(() => {
    place[Symbol.dispose]();
  });

  it("makes what is missing, and takes what is there", () => {
    const prefix = `${place.path}/a/b`;
    makePrefixes([prefix], silent);
    makePrefixes([prefix], silent);
    expect(existsSync(prefix)).to.equal(true);
  });

  it("follows no link, at the end or on the way", () => {
    mkdirSync(`${place.path}/real`);
    symlinkSync(`${place.path}/real`, `${place.path}/link`);
    for (const prefix of [`${place.path}/link`, `${place.path}/link/beneath`]) {
      expect(() => makePrefixes([prefix], silent)).to.throw(
        `${place.path}/link is a symbolic link to ${place.path}/real`,
      );
    }
    expect(existsSync(`${place.path}/real/beneath`)).to.equal(false);
  });

  it("does not wait for a FUSE server that is stopped, and says which prefix is on one", async function () {
    need(this, "fuse");
    mkdirSync(`${place.path}/fuse`);
    await using server = await FuseServer.start(`${place.path}/fuse`);
    await server.stop();
    const prefix = `${server.point}/data/prefix`;
    const module = new URL("../../src/host/linux/path/prefixes.ts", import.meta.url).href;
    const script = `const { makePrefixes } = await import(${JSON.stringify(module)}); makePrefixes([${JSON.stringify(prefix)}], { warn: (...said) => console.log(JSON.stringify(said)) });`;
    const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 20_000,
      killSignal: "SIGKILL",
    });
    expect(status, "a process of its own, which would hang").to.equal(0);
    const [message, meta] = JSON.parse(stdout) as Parameters<Logger["warn"]>;
    expect(message).to.contain("may hang");
    expect(meta).to.deep.equal({ prefix, mount: `fuse.test (test-server) at ${server.point}` });
  });
});
