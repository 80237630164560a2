// What a staged fault is, what staging has at hand, and what is asked of its explanation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Requirement } from "../../lib/asserts/requirements.ts";
import type { TestNode, World } from "../../lib/cluster/world.ts";
import type { ReaderPlace } from "../../lib/docs/world.ts";

/**
 * A row of the table of faults. Each has a section of docs/explained-faults.md, whose block asks `kubectl nvi explain`
 * about it.
 */
export interface Fault {
  /** Heading of its section. */
  readonly title: string;
  /** Code of the reason, or the words of an error that has none. */
  readonly code: string;
  /** What the cause has to name. */
  readonly names: readonly string[];
  /** The command that the arrow has, with its names filled in. */
  readonly step: RegExp;
  /** An error of the command line, as there is no object that says since when. */
  readonly isError?: true;
  readonly needs?: readonly Requirement[];
  /** It disturbs others: staged after them, and taken back at once. */
  readonly alone?: true;
  stage(staging: Staging): Promise<void>;
}

export interface Staging {
  readonly world: World;
  /** Node-1, where most faults are. */
  readonly node: TestNode;
  /** Where the commands of the page are typed. */
  readonly place: ReaderPlace;
  /** An empty directory of the machine. */
  readonly directory: string;
  /** Takes back what was staged, the newest first. */
  readonly undo: AsyncDisposableStack;
  /** Makes a set, on node-1 unless its spec says otherwise; it goes after `undo`. */
  apply(name: string, spec: object): Promise<void>;
  /** Sets that were made. */
  readonly sets: readonly string[];
}

export const memory = { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } };
export const pathOf = (name: string) => `/var/lib/nodevolume/mounts/${name}`;
export const mountsAt = (path: string) => [{ name: "host", path }];
export const onNode = (name: string) => ({ nodeSelector: { "kubernetes.io/hostname": name } });

export function stagingIn(world: World, place: ReaderPlace): Staging {
  const [node] = world.nodes;
  const sets: string[] = [];
  return {
    world,
    node,
    place,
    directory: mkdtempSync(join(tmpdir(), "nodevolume-faults-")),
    undo: new AsyncDisposableStack(),
    sets,
    async apply(name, spec) {
      if (!sets.includes(name)) sets.push(name);
      await world.apply(name, { ...onNode(node.name), ...spec });
    },
  };
}

/** Takes everything back: first what keeps volumes, then the sets. */
export async function takeBack({ undo, world, sets, directory }: Staging): Promise<void> {
  await undo.disposeAsync();
  if (sets.length > 0) await world.remove(...sets);
  rmSync(directory, { recursive: true, force: true });
}

/**
 * Each line beneath a title but those of what is done; of an error, all.
 * @param shown what was typed, then what came
 */
function faultLines(shown: string): string[] {
  const [, ...lines] = shown.trimEnd().split("\n");
  const summaryEnds = lines.indexOf("");
  if (summaryEnds < 0) return lines.filter((line) => !line.startsWith("(exit code "));
  const found: string[] = [];
  let isDone = false;
  for (const line of lines.slice(summaryEnds).filter((one) => one.startsWith("  "))) {
    if (/^ {2}\S/.test(line)) isDone = line.startsWith("  ✓");
    if (!isDone) found.push(line);
  }
  return found;
}

const mostLines = 5;
const widest = 100;
const program = /\b(kubectl|kill|umount|mv|nc|lsblk|df|findmnt|nsenter) /;
const unfilled = /<[a-z]|\b(NODE|INTENT|SET|VOLUME|SERVER|PORT|NAMESPACE|CLAIM|POD|PATH|SOURCE|DEVICE|PID)\b/;

/** The cause with its names and since when, then one thing to do, in five lines that fit a terminal. */
export function expectExplained(shown: string, { code, names, step, isError }: Fault): void {
  const lines = faultLines(shown);
  const text = lines.map((line) => line.trim()).join(" ");
  const [cause = "", ...steps] = text.split("→");
  const [todo = ""] = steps;
  expect(cause, shown).to.include(code);
  // Also in the title: of an orphan it names the path.
  const [before = ""] = shown.replace(/\s+/g, " ").split("→");
  for (const name of names) expect(before, shown).to.include(name);
  if (isError !== true) expect(cause, `since when: ${shown}`).to.match(/\bfor \d+[smhd]/);
  expect(steps, `one arrow: ${shown}`).to.have.length(1);
  expect(todo, shown).to.match(step).and.match(program).and.not.match(unfilled);
  expect(lines.length, `lines: ${shown}`).to.be.within(2, mostLines);
  const wide = shown.split("\n").filter((line) => line.length > widest);
  expect(wide, `wider than ${widest} columns`).to.deep.equal([]);
}
