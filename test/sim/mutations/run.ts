// Breaks the product on purpose, in copies, and tells what the simulator noticed of it:
//   node test/sim/mutations/run.ts [TEXT IN THE NAME]
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../../hack/lib/root.ts";
import { type Mutation, mutations } from "./list.ts";

const [text = ""] = process.argv.slice(2);
const left = mutations.filter(({ name }) => name.includes(text));
let unnoticed = 0;
await Promise.all(Array.from({ length: availableParallelism() }, work));
process.exitCode = unnoticed > 0 ? 1 : 0;

async function work(): Promise<void> {
  for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
    const { noticed, what } = await probe(mutation);
    if (!noticed) unnoticed++;
    console.log(`${noticed ? "noticed" : "NOT NOTICED"}: ${mutation.name}\n    ${what}`);
  }
}

async function probe({ also, ...first }: Mutation): Promise<{ noticed: boolean; what: string }> {
  const copy = mkdtempSync(join(tmpdir(), "nodevolume-mutation-"));
  try {
    for (const part of ["src", "test", "package.json"]) cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const { file, from, to } of [first, ...(also === undefined ? [] : [also])]) {
      const source = readFileSync(join(copy, file), "utf8");
      if (!source.includes(from)) return { noticed: false, what: `${file} has no such text any more: ${from.trim()}` };
      const broken = source.replace(from, () => to);
      writeFileSync(join(copy, file), broken);
    }
    return await run(copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function run(copy: string): Promise<{ noticed: boolean; what: string }> {
  const child = spawn(process.execPath, ["test/sim/mutations/probe.ts"], {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ noticed: code === 1, what: output.trim().slice(-600) }));
  });
}
