import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { type Block, blocksOf, pages, parseConsole, type Typed } from "../lib/docs/blocks.ts";
import { comparable } from "../lib/docs/same-output.ts";
import { type Answer, type DocsWorld, docsWorld, type ReaderPlace, writeIn } from "../lib/docs/world.ts";
import { full, need, type Requirement } from "../lib/requirements.ts";
import { writeVariable } from "../unit/cli/golden.ts";

/** Its commands are about a cluster of its own: test/cluster/cli.test.ts. */
const elsewhere = "docs/kubectl-nvi.md";
/** How long what a reader sees may take to become what the page shows, milliseconds. */
const patience = 60_000;

const isCommand = ({ language }: Block) => language === "sh" || language === "console";
const isRun = (block: Block) => isCommand(block) && !block.told.has("not run");

/** What a newcomer types first; the others take two minutes and more, and are of the long run (--full). */
const eachTime: readonly string[] = ["docs/tasks/first-volume.md"];

for (const page of pages().filter((one) => (full() ? one !== elsewhere : eachTime.includes(one)))) {
  const blocks = blocksOf(page);
  if (!blocks.some(isRun)) continue;

  describe(`what ${page} says, done as it says`, () => {
    let docs: DocsWorld;
    let place: ReaderPlace;

    before(async function () {
      docs = await docsWorld(this);
      place = docs.place();
    });
    after(() => docs && leave(docs));

    for (const block of blocks) {
      const [file] = block.told.get("file") ?? [];
      if (file === undefined && !isRun(block)) continue;
      it(`${page}:${block.line}: ${file ?? block.text.split("\n", 1)[0]}`, async function () {
        need(this, ...((block.told.get("needs") ?? []) as Requirement[]));
        if (file !== undefined) writeIn(place, file, block.text);
        for (const line of block.told.get("before") ?? [])
          for (const one of parseConsole({ ...block, text: `${line}\n` })) await succeeds(one);
        if (block.language === "sh") await succeeds({ where: "$", command: block.text, output: "" });
        if (block.language === "console") await types(block);
      });
    }

    async function succeeds({ where, command }: Typed): Promise<void> {
      const { code, stdout, stderr } = await docs.sh(place, where, command);
      expect(code, `${command}\n${stdout}${stderr}`).to.equal(0);
    }

    /** Types what the block shows, and waits until the same comes of it; of a command that changes something, once. */
    async function types(block: Block): Promise<void> {
      let text = "";
      for (const { where, command, output } of parseConsole(block)) {
        const ask = () => docs.sh(place, where, command);
        const shown = process.env[writeVariable] ? await settled(ask, command) : undefined;
        if (shown === undefined) await agrees(ask, command, output);
        text += `${where === "$" ? "$" : `${where}#`} ${command}\n${shown ?? output}`;
      }
      if (text === block.text) return;
      const path = join(root, page);
      // With its fences: another block may begin with the same command.
      const fenced = (inner: string) => `\`\`\`console\n${inner}\`\`\``;
      const before = readFileSync(path, "utf8");
      writeFileSync(
        path,
        before.replace(fenced(block.text), () => fenced(text)),
      );
    }
  });
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

/** Of a command whose output the page leaves out, only that it works. */
async function agrees(ask: () => Promise<Answer>, command: string, output: string): Promise<void> {
  const answer = await ask();
  let shown = told(answer, command);
  if (output === "") {
    expect(answer.code, `${command}\n${shown}`).to.equal(0);
    return;
  }
  const same = () => comparable(shown) === comparable(output);
  if (isQuestion(command) && !same())
    await until(`the output of ${command}`, patience, async () => {
      shown = told(await ask(), command);
      return same();
    }).catch(() => undefined);
  expect(comparable(shown), `${command}\n${shown}`).to.equal(comparable(output));
}

/** How long what whoever writes a page is shown has to stay the same: longer than an agent may keep news of its node back, milliseconds. */
const restMs = 7_000;

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

/** Takes away what the page has left: pods, sets, and then what was done to Nodes and mounted by hand. */
async function leave({ world }: DocsWorld): Promise<void> {
  await world.cluster.adminKubectl.run(["delete", "pods", "--all", "--all-namespaces", "--force", "--wait=false"]);
  const sets = [...world.objects.sets.keys()];
  if (sets.length > 0) await world.remove(...sets);
  for (const { name, host } of world.nodes) {
    await world.cluster.adminKubectl.run(["uncordon", name]);
    const labels = ["nodevolume.dev/suspend-", "example.com/gpu-", "example.com/role-"];
    await world.cluster.adminKubectl.run(["label", "node", name, ...labels]);
    await world.cluster.adminKubectl.try(["taint", "node", name, "example.com/leaving-"]);
    const left = (await host.mounts()).flatMap((line) => line.split(" ")[4] ?? []);
    for (const path of left.reverse()) if (/^\/(mnt\/nodevolume\/|srv$)/.test(path)) await host.run("umount", path);
  }
}
