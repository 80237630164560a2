// What hack/proof/disk-guards.ts runs in a sandbox: prints a row for each guard.
import { parseArgs } from "node:util";
import { guards } from "./guards.ts";
import { mostWorlds, worldsUntilHarm } from "./worlds-until-harm.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { grep: text, seed: text, worlds: text } });
const firstSeed = Number(values.seed);
const most = Number(values.worlds ?? mostWorlds);
console.log(`seed ${firstSeed}\n\n| without | harm shows after worlds | seconds | which |\n|---|---|---|---|`);
for (const guard of guards.filter(({ name }) => name.includes(values.grep ?? ""))) {
  const begun = performance.now();
  const { worlds, harm } = await worldsUntilHarm(guard, firstSeed, most, console.error);
  const seconds = ((performance.now() - begun) / 1000).toFixed();
  console.log(`| ${guard.name} | ${harm === undefined ? `none in ${worlds}` : worlds} | ${seconds} | ${harm ?? ""} |`);
  if (harm === undefined) process.exitCode = 1;
}
