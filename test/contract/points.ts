import type { Point } from "./point.ts";
import { busy } from "./points/busy.ts";
import { comesBack } from "./points/comes-back.ts";
import { cutOff } from "./points/cut-off.ts";
import { grows } from "./points/grows.ts";
import { inTheWay, partly } from "./points/in-the-way.ts";
import { mounted } from "./points/mounted.ts";
import { options } from "./points/options.ts";
import { readOnly } from "./points/read-only.ts";
import { journalOnly, released } from "./points/released.ts";
import { restarted, stagedAgain } from "./points/restarted.ts";
import { secrets } from "./points/secrets.ts";

/** What every plugin keeps to, in the order in which it is tested: as long as none wants to be alone, on one node. */
export const points: readonly Point[] = [
  mounted,
  readOnly,
  options,
  restarted,
  stagedAgain,
  comesBack,
  inTheWay,
  partly,
  busy,
  grows,
  released,
  journalOnly,
  cutOff,
  secrets,
];
