// Where the agent's time goes when many volumes come and go at once, as Markdown: counts and shares, without kubelet.
// sudo node hack/bench/profile.ts [--pods 500] [--volumes 2] [--kind mem|local] [--directory FOLDER]
import { parseArgs } from "node:util";
import { profile } from "./in-agent/scenarios.ts";
import type { Kind } from "./lib/pods.ts";
import { profileText } from "./report/profile-text.ts";

const { values } = parseArgs({
  options: {
    pods: { type: "string", default: "500" },
    volumes: { type: "string", default: "2" },
    kind: { type: "string", default: "mem" },
    directory: { type: "string" },
  },
});
const kinds: readonly string[] = ["mem", "local"] satisfies Kind[];
if (!kinds.includes(values.kind)) throw new Error(`--kind takes ${kinds.join(" or ")}, not ${values.kind}`);
const of = { pods: count("pods"), volumes: count("volumes"), kind: values.kind as Kind };
const { directory } = values;
console.log(profileText(await profile(of, directory === undefined ? {} : { directory })));

function count(flag: "pods" | "volumes"): number {
  if (!/^[1-9]\d{0,4}$/.test(values[flag]))
    throw new Error(`--${flag} takes whole numbers from 1, not ${values[flag]}`);
  return Number(values[flag]);
}
