import { fchmodSync, fsyncSync } from "node:fs";
import { Readable } from "node:stream";
import type { CheckOutRequest } from "../../ports/repositories.ts";
import { openDirectoryAt } from "../path/held-tree.ts";
import { AT_FDCWD, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";
import { loadSandboxCalls } from "../syscall/sandbox-calls.ts";
import { fetchEnvironment } from "./access.ts";
import { contents, fetch, init, list } from "./commands.ts";
import { Git } from "./git.ts";
import { ObjectStream } from "./object-stream.ts";
import { counted, entryOf, linesOf, type TreeEntry } from "./tree-entries.ts";
import { writeTree } from "./write-tree.ts";

/**
 * Shows a commit as files (Repositories.checkOut), in a disposable child that has a root of its own (git-sandbox.ts):
 *
 *   directory/            ours (0700)
 *     repository/         what git fetches, and all that it reaches of the node's disks: it is there already
 *     new/                what is written of it, by us
 *     tree/               new/, renamed once it is complete and on the disk
 *
 * git says which files there are and what is in them. It runs as a user of its own and may be anybody's by then: each
 * name is looked at, and written by descriptor.
 */
export async function checkOut(libc: Libc, request: CheckOutRequest, tell: (line: string) => void): Promise<void> {
  const calls = loadSandboxCalls();
  const git = new Git(request);
  using directory = new Descriptor(
    libc.openat2(AT_FDCWD, request.directory, O.RDONLY | O.DIRECTORY | O.CLOEXEC, 0, RESOLVE.NO_SYMLINKS),
  );
  libc.mkdirat(directory.fd, "new", 0o700);
  using fresh = openDirectoryAt(libc, directory, "new");
  await git.run(init(request));
  await git.run(fetch(request), { onLine: tell, env: fetchEnvironment(request), network: true });
  const entries = await entriesOf(git, request);
  await write(git, entries, (objects) =>
    writeTree(libc, calls, fresh, entries, objects.read.bind(objects), (written) =>
      tell(`${written} of ${entries.length} files written`),
    ),
  );
  fchmodSync(fresh.fd, 0o755);
  calls.syncfs(fresh.fd);
  libc.renameFree(directory.fd, "new", directory.fd, "tree");
  fsyncSync(directory.fd);
}

async function entriesOf(git: Git, request: CheckOutRequest): Promise<TreeEntry[]> {
  const { stdin, stdout, ended } = git.start(list(request));
  stdin.end();
  const count = counted(request.sizeLimit);
  const entries: TreeEntry[] = [];
  for await (const line of linesOf(stdout as AsyncIterable<Buffer>)) {
    const entry = entryOf(line);
    count(entry);
    entries.push(entry);
  }
  await ended;
  return entries;
}

/** Has the objects of all entries printed while they are written. */
async function write(
  git: Git,
  entries: readonly TreeEntry[],
  writeAll: (objects: ObjectStream) => Promise<void>,
): Promise<void> {
  const { stdin, stdout, ended } = git.start(contents);
  const asked = entries.filter(({ kind }) => kind !== "submodule");
  Readable.from(lines(asked)).pipe(stdin);
  await writeAll(new ObjectStream(stdout));
  stdout.resume();
  await ended;
}

function* lines(entries: readonly TreeEntry[]): Generator<string> {
  for (const { object } of entries) yield `${object}\n`;
}
