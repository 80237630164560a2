import { parseArgs } from "node:util";
import type { Way } from "./agents/agent.ts";
import { ways } from "./agents/options.ts";
import type { Shape } from "./generator/shape.ts";

export interface ScaleOptions {
  readonly shape: Shape;
  /** A set with a mount on every node, beside what the pods use. */
  readonly set: boolean;
  /** Pods that are started and stopped at rest. */
  readonly lives: number;
  /** Milliseconds between two of them. */
  readonly everyMs: number;
  /** Seconds at rest before memory and writes are looked at. */
  readonly restSeconds: number;
  /** How long anything is waited for. */
  readonly patienceMinutes: number;
  readonly restart: boolean;
  /** One real kube-apiserver and etcd, with kwok, in the generator's place. */
  readonly kwok: boolean;
  /** Beside it an agent for each node, which hears of its intents in this way; undefined: one watch for all of them. */
  readonly agents: Way | undefined;
  /**
   * MiB that the controller's heap may have, as in a container of some four times that; undefined: what Node takes by
   * itself.
   */
  readonly heap: number | undefined;
  /** Folder for a profile of the controller's processor time. */
  readonly profile: string | undefined;
  readonly json: string | undefined;
}

export const usage = `usage: node hack/bench/scale.ts [flags]

  --nodes N          nodes (100)
  --pods N           pods of each (30)
  --one-in N         each how many-th pod uses claims (1: all)
  --ordinary N       claims of a pod that kubelet mounts: 0 or 1 (1)
  --ours N           claims of a pod by csi.nodevolume.dev: 0 or 1 (1)
  --attached         the ordinary driver attaches: each claim has a VolumeAttachment
  --established      the intents of all pods are there at first
  --namespace N      pods in a namespace (30)
  --kwok             one real kube-apiserver with kwok in the generator's place; with --established it is put into etcd
  --agents WAY       beside a real server: an agent for each node, with watches of its own, watch or index (one watch for all)
  --set              a set with a mount on each node, too
  --lives N          pods that start and stop at rest (1000)
  --every MS         milliseconds between two of them (100)
  --rest S           seconds at rest before memory is read (60)
  --patience MIN     how long anything is waited for (30)
  --no-restart       the controller is not killed
  --heap MIB         what the controller's heap may have (what Node takes by itself)
  --profile FOLDER   a profile of the controller's processor time
  --json FILE        all figures
`;

/** @throws Error with what is wrong with them */
export function parseOptions(args: readonly string[]): ScaleOptions | "help" {
  const text = { type: "string" } as const;
  const yes = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: text,
      pods: text,
      "one-in": text,
      ordinary: text,
      ours: text,
      attached: yes,
      established: yes,
      namespace: text,
      kwok: yes,
      agents: text,
      set: yes,
      lives: text,
      every: text,
      rest: text,
      patience: text,
      "no-restart": yes,
      heap: text,
      profile: text,
      json: text,
      help: yes,
    },
  });
  if (values.help) return "help";
  const count = (flag: keyof typeof values, without: number, most = 1_000_000): number => {
    const given = values[flag];
    if (given === undefined) return without;
    if (typeof given !== "string" || !/^\d{1,7}$/.test(given) || Number(given) > most) {
      throw new Error(`--${flag} takes whole numbers from 0 to ${most}, not ${given}`);
    }
    return Number(given);
  };
  const agents = ways.find((way) => way === values.agents);
  if (values.agents !== undefined && (agents === undefined || !values.kwok)) {
    throw new Error(`--agents takes ${ways.join(" or ")}, and --kwok beside it, not ${values.agents}`);
  }
  const lives = count("lives", 1000);
  return {
    shape: {
      nodes: Math.max(1, count("nodes", 100)),
      podsPerNode: count("pods", 30),
      podsPerNamespace: Math.max(1, count("namespace", 30)),
      oneInUses: Math.max(1, count("one-in", 1)),
      ordinary: count("ordinary", 1, 1),
      ours: count("ours", 1, 1),
      attached: values.attached,
      established: values.established,
      spare: lives + restarted,
    },
    set: values.set,
    lives,
    everyMs: count("every", 100),
    restSeconds: count("rest", 60),
    patienceMinutes: count("patience", 30),
    restart: !values["no-restart"],
    kwok: values.kwok,
    agents,
    heap: values.heap === undefined ? undefined : count("heap", 0),
    profile: values.profile,
    json: values.json,
  };
}

/** Pods that start while there is no controller. */
export const restarted = 100;
