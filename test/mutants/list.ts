import type { Mutant } from "../laws/mutants/mutant.ts";
import { mutants } from "../laws/mutants/mutants.ts";
import { lawsToBreak } from "../sim/mutations/breakers.ts";
import { mutations } from "../sim/mutations/list.ts";
import type { Mutation } from "../sim/mutations/mutation.ts";
import { ofAttach } from "./of-attach.ts";
import { ofCSI } from "./of-csi.ts";
import { ofExecutor } from "./of-executor.ts";
import { ofJournal } from "./of-journal.ts";
import { ofLook } from "./of-look.ts";
import { ofPlanner } from "./of-planner.ts";
import { ofRelease } from "./of-release.ts";
import { ofStatus } from "./of-status.ts";
import type { Area, Seed } from "./seed.ts";

/** The simulator has no file to lock: it starts the next agent when the one before has ended. */
const agentLock: Seed = {
  area: "other",
  name: "agent lock: start an agent beside one that lives",
  edits: [
    {
      file: "test/sim/agent-process.ts",
      from: "    this.#running.incarnation.end();\n    this.#ended();\n",
      to: "    this.#running = undefined;\n    this.#again(restart);\n",
    },
  ],
  removes: "agent lock",
};

const own: readonly Seed[] = [
  agentLock,
  ...ofLook,
  ...ofPlanner,
  ...ofStatus,
  ...ofExecutor,
  ...ofCSI,
  ...ofJournal,
  ...ofRelease,
  ...ofAttach,
];

/** Faults of the other lists that are translations of a bug of kubelet, by name. */
const ofKubelet: { readonly [name: string]: Pick<Seed, "kubelet" | "test"> } = {
  "take down before the intents were read completely": {
    kubelet: "#120150: after a restart volumes of running pods are unmounted while the API server cannot be read",
    test: "test/unit/agent/planner/plan.test.ts",
  },
  "believe the journal's mounts after a reboot": {
    kubelet: "#120853: a wrong or empty volume after a reboot",
    test: "test/unit/agent/journal/journal.test.ts",
  },
};

/** The acknowledgement rule. */
const removed: ReadonlySet<string> = new Set([
  "remove the finalizer without an acknowledgement",
  "detach without an acknowledgement",
]);

const areas: readonly (readonly [RegExp, Area])[] = [
  [/^src\/agent\/journal\/|^src\/agent\/model\/volume-record\.ts$/, "journal"],
  [/^src\/agent\/(executor|status)\/|^src\/agent\/loop\.ts$|^src\/plugins\//, "executor"],
  [/^src\/agent\//, "planner"],
  [/^src\/controller\//, "attach"],
];

/**
 * Every fault, each once: those of the simulator and of the laws, and those that are here for the tests of one part.
 */
export const seeds: readonly Seed[] = [...mutations.map(ofSimulator), ...lawsAlone(), ...own];

function ofSimulator({ law, name, also, noticedBy, ...edit }: Mutation): Seed {
  const { file, from, to } = edit;
  return {
    area: areaOf(file, name),
    name: `${law}: ${name}`,
    edits: [{ file, from, to }, ...(also === undefined ? [] : [also])],
    ...ofKubelet[name],
    ...((lawsToBreak.includes(law) || removed.has(name)) && { removes: law }),
    ...(noticedBy && { noticedBy }),
  };
}

/** Those of the laws that the simulator does not have in the very same words. */
function lawsAlone(): Seed[] {
  const had = new Set(mutations.map(({ file, from, to }) => `${file}\n${from}\n${to}`));
  return mutants.filter(({ file, from, to }) => !had.has(`${file}\n${from}\n${to}`)).map(ofLaw);
}

function ofLaw({ law, what, test, file, from, to, runs }: Mutant): Seed {
  const ofThat = { law: law.toLowerCase(), test, ...(runs !== undefined && { runs }) };
  return { area: areaOf(file, what), name: `${law}: ${what}`, edits: [{ file, from, to }], law: ofThat };
}

function areaOf(file: string, name: string): Area {
  if (name.includes("write it down afterwards")) return "journal";
  return areas.find(([pattern]) => pattern.test(file))?.[1] ?? "other";
}
