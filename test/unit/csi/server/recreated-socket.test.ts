import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@grpc/grpc-js";
import { expect } from "chai";
import { socketAt } from "../../../../src/csi/server/listen.ts";
import { RecreatedSocket } from "../../../../src/csi/server/recreated-socket.ts";

describe("a socket that is kept", () => {
  let directory: string;
  let made: number;
  let kept: RecreatedSocket;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-kept-"));
    made = 0;
    kept = new RecreatedSocket(join(directory, "csi.sock"), () => {
      made += 1;
      return new Server();
    });
  });
  afterEach(() => {
    kept.stop();
    rmSync(directory, { recursive: true });
  });

  it("is made once as long as it is there", async () => {
    for (let times = 0; times < 3; times += 1) await kept.keep();
    expect(made).to.equal(1);
  });

  it("is made again when it is gone, and when something else has its path", async () => {
    await kept.keep();
    const first = socketAt(kept.path);
    rmSync(kept.path);
    await kept.keep();
    expect(socketAt(kept.path)).not.to.equal(first);
    rmSync(kept.path);
    writeFileSync(kept.path, "");
    await kept.keep();
    expect(made).to.equal(3);
  });

  it("is refused with a path that is too long, or that a directory has", async () => {
    const failure = (socket: RecreatedSocket) =>
      socket.keep().then(
        () => "",
        (error: Error) => error.message,
      );
    const long = new RecreatedSocket(join(directory, "x".repeat(107)), () => new Server());
    expect(await failure(long)).to.match(/has \d+ bytes; a socket's path has 107 at most/);
    mkdirSync(join(kept.path, "sub"), { recursive: true });
    expect(await failure(kept)).to.include("EISDIR");
  });
});
