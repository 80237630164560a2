// The process of the test server: node server-main.ts MOUNT-POINT, told by messages how to behave.
import { read, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as C from "../../../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../../../src/host/linux/syscall/descriptor.ts";
import { errnoOf } from "../../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../../src/host/linux/syscall/libc.ts";
import { answerTo } from "./answers.ts";
import type { Command, Report } from "./fuse-server.ts";
import { answer, type FuseRequest, opcodes, parseRequest } from "./protocol.ts";
import { FuseTree } from "./tree.ts";

const readWrite = 2;
/** The kernel asks for more than its header and 4 KiB of data. */
const longestRequest = 128 * 1024;

const readFrom = promisify(read);
const tree = new FuseTree();
const held: FuseRequest[] = [];
/** Requests that are still answered; then they are held. */
let answered = Number.POSITIVE_INFINITY;
let delayMs = 0;
/** What everything is answered with; 0: with what was asked for. */
let error = 0;

const point = process.argv[2];
if (point === undefined) throw new Error("usage: server-main.ts MOUNT-POINT");
const device = mount(point);
process.on("message", (command: Command) => obey(command));
tell({ mounted: true });
await serve();
process.disconnect();

function mount(at: string): Descriptor {
  const libc = loadLibc();
  const fuse = new Descriptor(libc.openat2(C.AT_FDCWD, "/dev/fuse", readWrite | C.O.CLOEXEC, 0, 0));
  using context = new Descriptor(libc.fsopen("fuse", C.FSOPEN_CLOEXEC));
  const options = {
    source: "test-server",
    subtype: "test",
    fd: `${fuse.fd}`,
    rootmode: "40000",
    user_id: "0",
    group_id: "0",
  };
  for (const [key, value] of Object.entries(options)) libc.fsconfig(context.fd, C.FSCONFIG.SET_STRING, key, value);
  libc.fsconfig(context.fd, C.FSCONFIG.SET_FLAG, "allow_other", null);
  libc.fsconfig(context.fd, C.FSCONFIG.CMD_CREATE, null, null);
  using made = new Descriptor(libc.fsmount(context.fd, C.FSMOUNT_CLOEXEC, 0));
  using target = new Descriptor(libc.openat2(C.AT_FDCWD, at, C.O.PATH | C.O.DIRECTORY | C.O.CLOEXEC, 0, 0));
  libc.moveMount(made.fd, target.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
  return fuse;
}

function obey(command: Command): void {
  if (command.delayMs !== undefined) delayMs = command.delayMs;
  if (command.error !== undefined) error = command.error;
  if (command.answer !== undefined) answered = command.answer === "all" ? Number.POSITIVE_INFINITY : command.answer;
  while (answered > 0 && held.length > 0) void handle(held.shift());
  tell({ obeyed: command.id });
}

/** Until the file system is unmounted. */
async function serve(): Promise<void> {
  const buffer = Buffer.alloc(longestRequest);
  for (;;) {
    try {
      const { bytesRead } = await readFrom(device.fd, buffer, 0, buffer.length, null);
      void handle(parseRequest(buffer.subarray(0, bytesRead)));
    } catch (error) {
      if (errnoOf(error) === "ENODEV") return; // unmounted
      if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "EINTR") throw error; // ENOENT: who asked is gone
    }
  }
}

async function handle(request: FuseRequest | undefined): Promise<void> {
  if (request === undefined) return;
  const waits = ![opcodes.FORGET, opcodes.BATCH_FORGET, opcodes.INTERRUPT].some((o) => o === request.opcode);
  if (waits && request.opcode !== opcodes.INIT) {
    if (answered <= 0) {
      held.push(request);
      tell({ holds: { opcode: request.opcode, pid: request.pid } });
      return;
    }
    answered -= 1;
    if (delayMs > 0) await sleep(delayMs);
  }
  const result = waits && request.opcode !== opcodes.INIT && error !== 0 ? error : answerTo(request, tree);
  if (result === undefined) return;
  try {
    writeSync(device.fd, answer(request.unique, result));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENODEV") throw error; // nobody waits for it any more
  }
}

function tell(report: Report): void {
  if (process.connected) process.send?.(report);
}
