import { printable } from "../../../api/printable.ts";
import { VolumeError } from "../../../errors.ts";
import type { CheckOutRequest } from "../../repositories.ts";
import { tooLarge } from "./tree-entries.ts";

/** How a git command ended that did not end well. */
export interface GitFailure {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote to its standard error. */
  readonly text: string;
}

type Explain = (request: CheckOutRequest, said: string) => VolumeError;

/** What git says when, first come first served. Its texts are those of LC_ALL=C, and the server may add to them. */
const causes: readonly (readonly [RegExp, Explain])[] = [
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
    /Authentication failed|could not read (Username|Password)|terminal prompts disabled|returned error: 40[13]/,
    ({ repository }) =>
      final(
        "RepositoryRefused",
        `${repository} asks for credentials, which a git volume does not have: only what can be read without any is shown. Name a mirror that can be`,
      ),
  ],
  [
    /returned error: (30[1278]|404|410)|not found|update url base|not valid: is this a git repository|dumb http/i,
    ({ repository }, said) =>
      final("RepositoryRefused", `${repository} is no repository that is served there, or it has moved: ${said}`),
  ],
  [
    /protocol .* (is )?not (supported|allowed)/i,
    ({ repository }) => final("RepositoryRefused", `${repository} is neither http nor https`),
  ],
  [
    /No space left on device|Disk quota exceeded/,
    (_, said) => new VolumeError("SetUpFailed", "transient", `the node's disk is full: ${said}`),
  ],
  [
    /unable to access|resolve host|connect|timed? ?out|reset by peer|early EOF|hung up|SSL|TLS|certificate|too slow|returned error: (429|5\d\d)|unexpected disconnect|RPC failed|expected (flush|packfile|'acknowledg)/i,
    (_, said) => new VolumeError("ServerUnreachable", "transient", said),
  ],
  [
    /invalid index-pack output/, // and nothing before it: the program that looks at what comes was ended by a signal
    ({ sizeLimit }) => tooLarge(`takes more than ${sizeLimit} bytes to fetch, or more memory than git is given`),
  ],
];

/** PURE. What a failure of git means to people. */
export function explain(request: CheckOutRequest, { code, signal, text }: GitFailure): VolumeError {
  const said = sayings(text);
  if (signal === "SIGXFSZ" || code === 128 + 25) return tooLarge(`takes more than ${request.sizeLimit} bytes to fetch`);
  const [, found] = causes.find(([pattern]) => pattern.test(text)) ?? [];
  if (found !== undefined) return found(request, said);
  return new VolumeError("SetUpFailed", "transient", `git ended with ${signal ?? code}: ${said}`);
}

function final(reason: "ContentRefused" | "RevisionNotFound" | "RepositoryRefused", message: string): VolumeError {
  return new VolumeError(reason, "final", message);
}

/** The lines that say what went wrong, as far as there are some, on one line. */
function sayings(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const telling = lines.filter((line) => /^(remote: )?(fatal|error|warning|ERR)/.test(line));
  return printable((telling.length > 0 ? telling : lines).slice(-3).join("; ")).slice(0, 512);
}
