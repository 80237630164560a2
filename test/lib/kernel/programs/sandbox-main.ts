// node sandbox-main.ts DIRECTORY SCRIPT: runs a shell script as git is run that speaks with nobody, with a directory of
// DIRECTORY as /repository.
import { spawnSync } from "node:child_process";
import { confined } from "../../../../src/host/linux/child/confined.ts";
import { refuseCalls } from "../../../../src/host/linux/child/refuse-calls.ts";
import { confinements } from "../../../../src/host/linux/child/start-confined.ts";
import { gitDirectory } from "../../../../src/host/linux/git/commands.ts";
import { enterGitSandbox } from "../../../../src/host/linux/git/git-sandbox.ts";
import { loadLibc } from "../../../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../../../src/host/linux/syscall/sandbox-calls.ts";

const [, , directory = "", script = ""] = process.argv;
const calls = loadSandboxCalls();
if (process.env["CONFINED"] === undefined) {
  // As the child for git begins.
  enterGitSandbox(loadLibc(), calls, { directory, repository: "", revision: "", subdirectory: "", sizeLimit: 1 });
  calls.keepCapabilities(confinements.checkOut.capabilities);
  refuseCalls(calls, confinements.checkOut.filtered);
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, again, { ...process.env, CONFINED: "1" });
}
const limits = { memoryBytes: 256 * 1024 * 1024, fileBytes: 100_000, network: false };
const [file = "", ...args] = confined((name) => `/usr/bin/${name}`, limits, ["/bin/sh", "-c", script]);
const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
const ran = spawnSync(file, args, { cwd: gitDirectory, env, encoding: "utf8" });
process.stdout.write(`${ran.stdout}${ran.stderr}`);
