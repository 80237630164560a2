import { isInvalid } from "../../src/agent/model/desired.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { worldChoices } from "./worlds/random-worlds.ts";
import { volumeStates, worldStates } from "./worlds/states.ts";

const operations = [
  "stage",
  "refresh",
  "reconfigure",
  "publish",
  "adopt",
  "note",
  "setAttributes",
  "claim",
  "unpublish",
  "unstage",
  "retain",
  "forget",
  "observe",
];
const phases = ["invalid", "observe", "ungranted", "setUp", "tearDown", "released", "retained", "unexplained"];

describe("The random worlds", () => {
  law("reach each state, phase and operation that a law is about", {
    worlds: worldChoices,
    runs: 2000,
    reaches: [
      ...Object.keys(worldStates),
      ...Object.keys(volumeStates),
      ...phases.map((phase) => `phase ${phase}`),
      ...operations.map((kind) => `operation ${kind}`),
      "nothing to do",
    ],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const result = plan(input);
      for (const [state, is] of Object.entries(worldStates)) reached.count(state, is(input));
      for (const volume of result.volumes.values()) {
        for (const [state, is] of Object.entries(volumeStates)) reached.count(state, is(volume, input));
        reached.count(`phase ${volume.phase}`);
        if (volume.operation !== undefined) reached.count(`operation ${volume.operation.kind}`);
        else reached.count("nothing to do");
        const { desired, name } = volume;
        const { broken } = choice.volumes[Number(name.slice(-1))]?.intent ?? {};
        if (desired !== undefined && isInvalid(desired) && broken === undefined) {
          throw new Error(`an intent that is meant to be understood is not: ${desired.problem}`);
        }
      }
    },
  });
});
