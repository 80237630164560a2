// What an agent does in its container: it finds the client of a volume, or starts it. node client-of-agent-main.ts
// DIRECTORY
import { spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { silent } from "../../../../hack/lib/silent-log.ts";
import { linuxHost } from "../../../../src/host/linux/linux-host.ts";
import { loadLibc } from "../../../../src/host/linux/syscall/libc.ts";
import { realSystem } from "../../../../src/system.ts";
import { childCommand } from "../child-command.ts";

/** What it has found or begun. */
export interface ClientFound {
  readonly pid: number;
  readonly found: boolean;
  /** A process of the container that left nothing, and went on in a session of its own. */
  readonly other: number | undefined;
  readonly warnings: readonly string[];
}

const [, , directory = ""] = process.argv;
const warnings: string[] = [];
const log = { ...silent, warn: (message: string) => void warnings.push(message) };
const host = linuxHost({
  stateDir: directory,
  ranBefore: false,
  childCommand: childCommand(),
  system: realSystem(log),
  libc: loadLibc(),
  hostRoot: "/host",
});
const { clients } = host.effects({ deadlineMs: 30_000, formatDeadlineMs: 30_000, onChild: async () => {} });
const [point, pidFile, logFile] = [`${directory}/mounted`, `${directory}/client.pid`, `${directory}/client.log`];
const running = await clients.running(pidFile);
let other: number | undefined;
if (running === undefined) {
  other = spawn("sleep", ["100000"], { stdio: "ignore", detached: true }).pid;
}
const started = await (running ??
  clients.start({
    program: "nodevolume-test-client",
    args: [point, pidFile],
    pidFile,
    log: logFile,
    mount: { fsType: "fuse.test", source: "test-server", point },
  }));
const answer: ClientFound = { pid: started.pid, found: running !== undefined, other, warnings };
writeFileSync(`${directory}/answer.new`, JSON.stringify(answer));
renameSync(`${directory}/answer.new`, `${directory}/answer-${process.env["HOSTNAME_OF_POD"]}`);
setInterval(() => {}, 1_000_000); // as an agent: until it is ended
