// Blocks of the documentation, typed as a reader types them: what they show is what comes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { until } from "../../../hack/lib/until.ts";
import { writeVariable } from "../../unit/cli/golden.ts";
import { type Block, parseConsole } from "./blocks.ts";
import { comparable } from "./same-output.ts";
import type { Answer, DocsWorld, ReaderPlace } from "./world.ts";

/** How long what a reader sees may take to become what the page shows, milliseconds. */
const patience = 60_000;
/**
 * How long what whoever writes a page is shown has to stay the same: longer than an agent may keep news of its node
 * back, milliseconds.
 */
const restMs = 7_000;

/**
 * Types what the block shows, and waits until the same comes of it; of a command that changes something, once. For
 * whoever writes the page (NODEVOLUME_WRITE_GOLDEN), what comes is written into it.
 * @returns the block as it came
 */
export async function carriedOut({ sh }: Pick<DocsWorld, "sh">, place: ReaderPlace, block: Block): Promise<string> {
  const writes = Boolean(process.env[writeVariable]);
  let text = "";
  for (const { where, command, output } of parseConsole(block)) {
    const ask = () => sh(place, where, command);
    const shown = writes ? await settled(ask, command) : await agreed(ask, command, output);
    text += `${where === "$" ? "$" : `${where}#`} ${command}\n${shown}`;
  }
  if (writes && text !== block.text) writeBlock(block, text);
  return text;
}

function writeBlock({ page, text: before }: Block, text: string): void {
  const path = join(root, page);
  // With its fences: another block may begin with the same command.
  const fenced = (inner: string) => `\`\`\`console\n${inner}\`\`\``;
  writeFileSync(
    path,
    readFileSync(path, "utf8").replace(fenced(before), () => fenced(text)),
  );
}

const asks =
  /^(kubectl (-n \S+ )?(get|describe|explain|nvi (volumes|explain|diff|plan|history|orphans|drained)) |findmnt |cat |ls |df |stat )/;
const waits = /^kubectl nvi (wait|drained .*--wait)/;

/** Whether a command may be typed again without changing anything, and answers at once. */
function isQuestion(command: string): boolean {
  return asks.test(`${command} `) && !waits.test(command);
}

/** What a terminal shows, but for what a command that waits in the end not in vain says of why it does. */
function told({ code, stdout, stderr }: Answer, command: string): string {
  if (code === 0) return waits.test(command) ? stdout : stdout + stderr;
  return `${stdout}${stderr}(exit code ${code})\n`;
}

/** @returns what came; of a command whose output the page leaves out, only that it works is asked */
async function agreed(ask: () => Promise<Answer>, command: string, output: string): Promise<string> {
  const answer = await ask();
  let shown = told(answer, command);
  if (output === "") {
    expect(answer.code, `${command}\n${shown}`).to.equal(0);
    return shown;
  }
  const same = () => comparable(shown) === comparable(output);
  if (isQuestion(command) && !same())
    await until(`the output of ${command}`, patience, async () => {
      shown = told(await ask(), command);
      return same();
    }).catch(() => undefined);
  expect(comparable(shown), `${command}\n${shown}`).to.equal(comparable(output));
  return shown;
}

/** For whoever writes a page: what is said in the end. */
async function settled(ask: () => Promise<Answer>, command: string): Promise<string> {
  let shown = told(await ask(), command);
  if (!isQuestion(command)) return shown;
  let since = performance.now();
  await until(`${command} to say the same`, 2 * patience, async () => {
    const before = comparable(shown);
    shown = told(await ask(), command);
    if (comparable(shown) !== before) since = performance.now();
    return performance.now() - since > restMs;
  });
  return shown;
}
