import { cut } from "../../api/conditions.ts";
import type { Reason } from "../../api/reasons.ts";
import { nextStep } from "../../explain/next-steps.ts";
import type { InstalledFacts } from "./facts.ts";
import { groups, someOf } from "./groups.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

/** Different reasons that are shown. */
const mostReasons = 5;

/** What nodes or the installation lack: a program, a kernel module, a prefix, a shared mount, a driver, a role. */
const lacking: ReadonlySet<string> = new Set<Reason>([
  "ToolMissing",
  "InitiatorNotReady",
  "DriverMissing",
  "FilesystemUnsupported",
  "ImageUnsupported",
  "QuotaUnsupported",
  "NotPropagated",
  "PathNotAllowed",
  "DriverNotOnNode",
  "DriverNotRegistered",
  "AttachNotManaged",
  "ConfigMapAccessDenied",
  "SecretAccessDenied",
  "NodeAccessDenied",
  "TokenAccessDenied",
  "TrustBundleAccessDenied",
]);

/**
 * PURE. What sets wait for that nodes or the installation lack. Each set shows its first ten nodes, those that need a
 * change before others. What it waits for otherwise, such as a server, is not of the installation: it is counted alone.
 */
export function checkSets({ sets }: Pick<InstalledFacts, "sets">): Found[] {
  if (sets.denied !== undefined) return [unknown(sets.denied)];
  if (sets.items.length === 0) return [ok("there are none yet")];
  const troubles = sets.items.flatMap(({ name, failing }) => failing.map((one) => ({ set: name, ...one })));
  const known = groups(
    troubles.filter(({ reason }) => lacking.has(reason)),
    ({ reason }) => reason,
  ).slice(0, mostReasons);
  const results = known.flatMap(([reason, those]) => {
    const [first] = those;
    if (first === undefined) return [];
    const { set, node, message } = first;
    const where = `${someOf([...new Set(those.map((one) => one.set))])} on ${someOf([...new Set(those.map((one) => one.node))])}`;
    const found = `${reason} of ${where}${message === "" ? "" : `: ${cut(message, 160)}`}`;
    return [failed(found, nextStep(reason, { set, node }) ?? `kubectl nvi explain ${set}`)];
  });
  const ready = sets.items.filter((set) => set.ready).length;
  const found = `${ready} of ${sets.items.length} are ready`;
  return [...results, ready === sets.items.length ? ok(found) : limited(found, "kubectl nvi diff")];
}
