import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const main = fileURLToPath(new URL("./canary-main.ts", import.meta.url));
const verbose = { GRPC_TRACE: "all", GRPC_VERBOSITY: "DEBUG" };

/**
 * 13, INTERNAL: an error with all of it in its text. 0: a reply with it, which cannot be read or is taken for a number.
 */
const run = async (code: number, env: NodeJS.ProcessEnv) => {
  const args = [main, String(code)];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env, timeout: 30_000 });
  return stdout + stderr;
};

describe("secrets that a driver repeats, or that kubelet hands over", () => {
  for (const code of [13, 14, 0]) {
    it(`are in nothing that is printed, at the highest verbosity, with status ${code}`, async () => {
      const printed = await run(code, { ...process.env, ...verbose });
      expect(printed).to.match(
        /called GetPluginInfo NodeStageVolume NodePublishVolume NodePublishVolume NodeExpandVolume/,
      );
      expect(printed.match(/^handed over true \[\s*'INTERNAL'/gm)).to.have.length(2);
      expect(printed.match(/^refused \[\s*'INVALID_ARGUMENT'/gm)).to.have.length(6);
      expect(printed.match(/^logged a call could not be answered/gm)).to.have.length(2);
      if (code !== 0) expect(printed).to.include("[redacted]").and.to.include("volume-1");
      expect(printed).to.not.match(/cnry/);
    }).timeout(40_000);
  }
});
