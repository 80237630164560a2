import { expect } from "chai";
import { full, need, type Requirement } from "../lib/asserts/requirements.ts";
import { type Block, blocksOf, pages, parseConsole, runElsewhere, type Typed } from "../lib/docs/blocks.ts";
import { carriedOut } from "../lib/docs/carried-out.ts";
import { type DocsWorld, docsWorld, type ReaderPlace, writeIn } from "../lib/docs/world.ts";

const isCommand = ({ language }: Block) => language === "sh" || language === "console";
const isRun = (block: Block) => isCommand(block) && !block.told.has("not run");

/** What a newcomer types first; the others take two minutes and more, and are of the long run (--full). */
const eachTime: readonly string[] = ["docs/tasks/first-volume.md"];

for (const page of pages().filter((one) => (full() ? !runElsewhere.includes(one) : eachTime.includes(one)))) {
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
        if (block.language === "console") await carriedOut(docs, place, block);
      });
    }

    async function succeeds({ where, command }: Typed): Promise<void> {
      const { code, stdout, stderr } = await docs.sh(place, where, command);
      expect(code, `${command}\n${stdout}${stderr}`).to.equal(0);
    }
  });
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
    const ofPage = /^(\/var\/lib\/nodevolume\/mounts\/|\/mnt\/nodevolume\/|\/srv$)/;
    for (const path of left.reverse()) if (ofPage.test(path)) await host.run("umount", path);
  }
}
