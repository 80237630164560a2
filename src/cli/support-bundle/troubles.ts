import { printable } from "../../api/values/printable.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";

/** What is well when it is False, or not there. */
const better = new Set(["Conflict", "Drifted", "Stalled", "Reconciling", "ReplicaFailure"]);
/** What says how it is, and nothing of whether that is well. */
const neutral = new Set(["Drained", "Mounted", "Progressing"]);
const pressure = /Pressure$|Unavailable$/;

/** PURE. What somebody who opens the archive looks for first: conditions that are not as they should be. */
export function troubles(kind: string, objects: readonly unknown[]): string[] {
  return objects.flatMap((object) => {
    const name = stringIn(recordIn(object, "metadata"), "name") ?? "";
    return arrayIn(recordIn(object, "status"), "conditions").flatMap((condition) => {
      const text = (key: string) => stringIn(condition, key) ?? "";
      const type = text("type");
      if (neutral.has(type)) return [];
      const good = better.has(type) || pressure.test(type) ? "False" : "True";
      if (text("status") === good) return [];
      const [since, reason, message] = [text("lastTransitionTime"), text("reason"), text("message")];
      const line = `${kind} ${name} ${type}=${text("status")} ${reason} since ${since}: ${message}`;
      return [printable(line.replace(/\s+/g, " "))];
    });
  });
}
