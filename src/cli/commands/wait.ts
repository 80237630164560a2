import { resource, setLabelPrefix } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import type { Raw } from "../../explain/facts.ts";
import { duration } from "../age.ts";
import { parseDuration } from "../arguments.ts";
import { type Cluster, getIfAllowed, type Selection } from "../cluster.ts";
import type { Call, Command } from "../command.ts";
import { CommandError, exitCode, UsageError } from "../exit-code.ts";
import { notFound, volumesNamed } from "../find-intents.ts";
import { didYouMean } from "../nearest.ts";
import { typedName } from "../typed-name.ts";
import { silence, type WaitEnd, waitUntil, within } from "./wait-until.ts";
import { podNotReady, podNotReleased, setNotReady, volumesNotReady, volumesNotReleased } from "./waiting-for.ts";

const states = ["ready", "released"] as const;

/** One wait: what it is called in the answer, and how it goes. */
interface Wait {
  readonly called: string;
  run(timeoutMs: number): Promise<WaitEnd>;
}

export const waitCommand: Command = {
  name: "wait",
  args: ["SET|VOLUME|pod/NAME"],
  summary: "Wait until a set, a volume or a pod's volumes are ready, or released",
  details: [
    "Prints on standard error why it waits, and again whenever that changes.",
    "A name is that of a set, or else of a volume; set/NAME and volume/NAME name the kind.",
    "--for=ready: ready on every node, with the newest spec. --for=released: no node has it any more, or nothing has this name.",
    "Exits with 0 when the condition is met, with 1 after --timeout, and with 3 if there is no such object.",
  ].join("\n"),
  flags: ["for", "timeout", "namespace"],
  formats: [],
  usesCluster: true,
  examples: [
    "kubectl nvi wait datasets",
    "kubectl nvi wait pod/web-0 -n shop --timeout 2m",
    "kubectl nvi wait datasets --for=released",
  ],
  words: ["pod/"],
  async run(call) {
    const { args, values, context } = call;
    const [word] = args;
    if (word === undefined) throw new UsageError("wait needs a set, a volume or pod/NAME");
    const goal = states.find((state) => state === (values.for ?? "ready"));
    if (goal === undefined)
      throw new UsageError(
        `--for ${JSON.stringify(values.for)} is not one of ${states.join(", ")}${didYouMean(values.for ?? "", states)}`,
      );
    const timeoutMs = parseDuration(values.timeout ?? "5m", "--timeout");
    const cluster = await context.connect();
    const { kind, name } = typedName(word) ?? { name: word };
    if (kind === "node" || kind === "pvc") throw new UsageError(`wait takes a set, a volume or pod/NAME, not ${word}`);
    const began = context.system.clock.monotonic();
    const finding = kind === "pod" ? waitForPod(call, cluster, name, goal) : waitForVolume(call, cluster, word, goal);
    const wait = await within(context, timeoutMs, finding);
    if (wait === "timeout") context.terminal.note(silence);
    const { called } = typeof wait === "string" ? { called: word } : wait;
    const leftMs = Math.max(1, timeoutMs - (context.system.clock.monotonic() - began));
    const end = typeof wait === "string" ? wait : await wait.run(timeoutMs === 0 ? 0 : leftMs);
    if (end === "interrupted") return exitCode.interrupted;
    if (end === "timeout") {
      context.terminal.note(`${called} is not ${goal}${timeoutMs === 0 ? "" : ` after ${duration(timeoutMs)}`}`);
      return exitCode.no;
    }
    context.terminal.out(`${called} ${goal}\n`);
    return exitCode.done;
  },
};

type Goal = (typeof states)[number];

async function waitForVolume(call: Call, cluster: Cluster, word: string, goal: Goal): Promise<Wait> {
  const { kind, name } = typedName(word) ?? { name: word };
  const mayBeSet = kind === undefined || kind === "set";
  const sets = mayBeSet ? (await getIfAllowed<NodeVolumeSet>(cluster, resource.sets, { name })).items : [];
  const intents = (options: Selection, why: (all: readonly NodeVolumeIntent[]) => string | undefined) => (ms: number) =>
    waitUntil<NodeVolumeIntent>(call, cluster, resource.intents, options, ms, why);
  if (sets.length > 0 || (kind === "set" && goal === "released")) {
    const called = `nodevolumeset.nodevolume.dev/${name}`;
    if (goal === "released")
      return { called, run: intents({ labelSelector: setLabelPrefix + name }, volumesNotReleased) };
    const options = { fieldSelector: `metadata.name=${name}` };
    const run = (ms: number) =>
      waitUntil<NodeVolumeSet>(call, cluster, resource.sets, options, ms, ([one]) => setNotReady(one));
    return { called, run };
  }
  const { items } = await cluster.client.list<NodeVolumeIntent>(resource.intents);
  const namedIn = (all: readonly NodeVolumeIntent[]) => volumesNamed(word, { intents: all, sets: [] })?.intents ?? [];
  const meant = namedIn(items);
  if (meant.length === 0 && goal === "ready")
    throw new CommandError(notFound(word, { intents: items, sets, nodes: [] }));
  const exact = meant.length === 1 ? meant[0]?.metadata.name : undefined;
  const options = exact === undefined ? {} : { fieldSelector: `metadata.name=${exact}` };
  const check = goal === "ready" ? volumesNotReady : volumesNotReleased;
  return { called: `volume/${name}`, run: intents(options, (all) => check(exact === undefined ? namedIn(all) : all)) };
}

async function waitForPod(call: Call, cluster: Cluster, name: string, goal: Goal): Promise<Wait> {
  const { namespace } = cluster;
  const called = `pod/${name}`;
  if (goal === "released") {
    const why = (all: readonly NodeVolumeIntent[]) => podNotReleased({ namespace, name }, all);
    return { called, run: (ms) => waitUntil<NodeVolumeIntent>(call, cluster, resource.intents, {}, ms, why) };
  }
  const pod = await cluster.client.get<Raw>(resource.pods, { name, namespace });
  if (pod === undefined) throw new CommandError(`there is no pod ${JSON.stringify(name)} in namespace ${namespace}`);
  const options = { namespace, fieldSelector: `metadata.name=${name}` };
  return {
    called,
    run: (ms) => waitUntil<Raw>(call, cluster, resource.pods, options, ms, ([one]) => podNotReady(one)),
  };
}
