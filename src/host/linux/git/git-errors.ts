import { printable } from "../../../api/values/printable.ts";
import { VolumeError } from "../../../errors.ts";
import type { CheckOutRequest } from "../../ports/repositories.ts";
import { moreMemory } from "../child/fetching-child.ts";
import { fetchLimitMs } from "./commands.ts";
import { tooLarge } from "./tree-entries.ts";

/** How a git command ended that did not end well. */
export interface GitFailure {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote to its standard error. */
  readonly text: string;
}

type ErrorOf = (request: CheckOutRequest, said: string) => VolumeError;

/** What git says when, first come first served. Its texts are those of LC_ALL=C, and the server may add to them. */
const causes: readonly (readonly [RegExp, ErrorOf])[] = [
  [
    /died of signal 25|File too large|SIGXFSZ/,
    ({ sizeLimit }) => tooLarge(`takes more than ${sizeLimit} bytes to fetch`),
  ],
  [/[Oo]ut of memory|mmap failed|Cannot allocate/, () => tooLarge("takes more memory to fetch than git is given")],
  [
    /fsck|error in object|hasDot|fullPathname|gitmodules|bad object|corrupt/i,
    (_, said) => final("ContentRefused", `git refuses what is in the repository: ${said}. Name another commit`),
  ],
  [
    /not a tree object|not a valid object name/i,
    ({ revision, subdirectory }) =>
      final("RevisionNotFound", `the commit ${revision} has no directory ${subdirectory}`),
  ],
  [
    /not our ref|remote ref|unadvertised object|no such ref/i,
    ({ repository, revision }) =>
      final(
        "RevisionNotFound",
        `${repository} has no commit ${revision} that it gives out: push it there, or name another`,
      ),
  ],
  [
    /Host key verification failed|No [A-Z0-9-]+ host key is known|REMOTE HOST IDENTIFICATION/,
    ({ repository }) =>
      final(
        "RepositoryRefused",
        `the server of ${repository} has none of the keys that known_hosts of the Secret has for it: ssh-keyscan prints those that it has. Compare, and add one`,
      ),
  ],
  [
    /error in libcrypto|Load key .*(invalid|incorrect)|bad permissions/,
    () =>
      final("KeyNotFound", "the key ssh-privatekey of the Secret is no private key of OpenSSH, or has a passphrase"),
  ],
  [
    /Permission denied \(/,
    ({ repository }) =>
      final(
        "RepositoryRefused",
        `${repository} lets nobody in with the key ssh-privatekey of the Secret: add its public key there`,
      ),
  ],
  [
    /Authentication failed|could not read (Username|Password)|terminal prompts disabled|returned error: 40[13]/,
    ({ repository, access }) =>
      final(
        "RepositoryRefused",
        access?.authorization === undefined
          ? `${repository} requires credentials: name a Secret that has them in secretRef, or a mirror that can be read without`
          : `${repository} lets nobody in with the credentials of the Secret: correct them, or let them read this repository`,
      ),
  ],
  [
    /returned error: (30[1278]|404|410)|not found|update url base|not valid: is this a git repository|not appear to be a git repository|dumb http/i,
    ({ repository }, said) =>
      final("RepositoryRefused", `${repository} is no repository that is served there, or it has moved: ${said}`),
  ],
  [
    /protocol .* (is )?not (supported|allowed)/i,
    ({ repository }) => final("RepositoryRefused", `${repository} is neither http, https nor ssh`),
  ],
  [
    /No space left on device|Disk quota exceeded/,
    (_, said) => new VolumeError("SetUpFailed", "transient", `the node's disk is full: ${said}`),
  ],
  [
    /unable to access|resolve host|Could not read from remote repository|connect|timed? ?out|reset by peer|early EOF|hung up|SSL|TLS|certificate|too slow|returned error: (429|5\d\d)|unexpected disconnect|RPC failed|expected (flush|packfile|'acknowledg)/i,
    (_, said) => new VolumeError("ServerUnreachable", "transient", said),
  ],
  [
    /invalid index-pack output/, // and nothing before it: the program that looks at what comes was ended by a signal
    ({ sizeLimit }) => tooLarge(`takes more than ${sizeLimit} bytes to fetch, or more memory than git is given`),
  ],
];

/** PURE. What a failure of git means to people. */
export function gitError(request: CheckOutRequest, { code, signal, text }: GitFailure): VolumeError {
  const said = sayings(text);
  if (signal === "SIGXFSZ" || code === 128 + 25) return tooLarge(`takes more than ${request.sizeLimit} bytes to fetch`);
  if (signal === "SIGKILL" || code === 128 + 9 || /died of signal 9/.test(text)) {
    const minutes = fetchLimitMs / 60_000;
    const message = `git was ended: it took more than ${minutes} minutes, or the kernel ended it as memory ran out, before the agent. ${moreMemory}`;
    return new VolumeError("SetUpFailed", "transient", message);
  }
  const [, found] = causes.find(([pattern]) => pattern.test(text)) ?? [];
  if (found !== undefined) return found(request, said);
  return new VolumeError("SetUpFailed", "transient", `git ended with ${signal ?? code}: ${said}`);
}

function final(
  reason: "KeyNotFound" | "ContentRefused" | "RevisionNotFound" | "RepositoryRefused",
  message: string,
): VolumeError {
  return new VolumeError(reason, "final", message);
}

/** The lines that say what went wrong, as far as there are some, on one line. */
function sayings(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const telling = lines.filter((line) => /^(remote: )?(fatal|error|warning|ERR|ssh:|kex_)/.test(line));
  return printable((telling.length > 0 ? telling : lines).slice(-3).join("; ")).slice(0, 512);
}
