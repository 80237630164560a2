import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { listed } from "../../../api/values/listed.ts";
import { portalText } from "../../ports/iscsi.ts";
import type { ISCSIOutcome, ISCSIRequest } from "../child/child-protocol.ts";
import { pathsOfNode } from "../child/node-tools.ts";
import { ifThere } from "../syscall/errno.ts";
import { loadLibc } from "../syscall/libc.ts";
import { loadSandboxCalls } from "../syscall/sandbox-calls.ts";
import { changeRecord, coverDatabase, enterOwnDatabase, likeInterface } from "./iscsi-database.ts";
import { chapSettings, type Settings } from "./iscsi-records.ts";

/** Milliseconds that one call may take at most; the agent's own deadline is shorter in most cases. */
const longestMs = 120_000;
/** Characters that are told of what it says. */
const longestSaid = 512;
/** Targets of a portal that a message names: a name has up to 223 characters. */
const mostTargets = 4;
/** Bytes that it may say: a portal may name many thousand targets. */
const maxBuffer = 64 * 1024 * 1024;

/**
 * Carries one request out, in the node's mount namespace and with a database of its own. Synchronous: only this thread
 * is in there.
 */
export function runISCSI(request: ISCSIRequest): ISCSIOutcome {
  const libc = loadLibc();
  enterOwnDatabase(libc, loadSandboxCalls(), request.nodeProcess);
  const program = pathsOfNode("iscsiadm").find(isProgram);
  if (program === undefined) return { step: "missing", what: "iscsiadm" };
  const admin = (...args: readonly string[]) => iscsiadm(program, args);
  if ("logout" in request) {
    coverDatabase(libc, request.logout.interface, ["iface.transport_name = tcp"]);
    const { code, said } = admin("-m", "session", "-r", `${request.logout.number}`, "--logout");
    return code === 0 ? { step: "done" } : { step: "logout", code, said };
  }
  const { iqn, portal, interface: by, session, discovery } = request.login;
  const like = likeInterface(by);
  if (like === undefined) return { step: "missing", what: "interface" };
  const covered = coverDatabase(libc, by.name, like);
  const at = ["-p", portalText(portal), "-I", by.name];
  if (discovery !== undefined) {
    const found = ["-m", "discoverydb", "-t", "st", ...at];
    const made = admin(...found, "-o", "new");
    if (made.code !== 0) return { step: "discover", ...made };
    if (!changeRecord("send_targets", chapSettings("discovery.sendtargets.auth", discovery), covered)) {
      admin(...found, "-o", "delete");
      return { step: "missing", what: "database" };
    }
    const { code, said, stdout } = admin(...found, "-o", "nonpersistent", "--discover");
    if (code !== 0) return { step: "discover", code, said };
    const names = stdout.split("\n").map((line) => line.split(" ")[1]);
    if (!names.includes(iqn))
      return { step: "target", said: listed([...new Set(names.flatMap((name) => name || []))], mostTargets) };
  }
  const node = ["-m", "node", "-T", iqn, ...at];
  const made = admin(...node, "-o", "new");
  if (made.code !== 0) return { step: "login", ...made };
  if (!changeRecord("nodes", [...ours, ...chapSettings("node.session.auth", session)], covered)) {
    admin(...node, "-o", "delete");
    return { step: "missing", what: "database" };
  }
  const { code, said } = admin(...node, "--login");
  return code === 0 ? { step: "done" } : { step: "login", code, said };
}

/**
 * - scan: only the LUN that is named is looked for (kubelet: kubernetes/kubernetes#90982)
 * - initial_login_retry_max: a portal that is silent is given up after some 30 s, not after two minutes, and tried
 *   again
 */
const ours: Settings = [
  ["node.startup", "manual"],
  ["node.session.scan", "manual"],
  ["node.session.initial_login_retry_max", "2"],
];

function iscsiadm(program: string, args: readonly string[]): { code: number; said: string; stdout: string } {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    env,
    cwd: "/",
    encoding: "utf8",
    maxBuffer,
    timeout: longestMs,
    killSignal: "SIGKILL",
  });
  if (error !== undefined) throw error;
  return { code: status ?? 1, said: `${stderr.trim() || stdout.trim()}`.slice(-longestSaid), stdout };
}

function isProgram(path: string): boolean {
  return ifThere(() => accessSync(path, constants.X_OK) ?? true) ?? false;
}
