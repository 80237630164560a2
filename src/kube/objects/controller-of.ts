import { arrayIn, asRecord, recordIn, stringIn } from "../json.ts";

/** UID of what controls an object, by its ownerReferences: at most one of them is `controller: true`. Pure. */
export function controllerOf(object: unknown): string | undefined {
  const owners = arrayIn(recordIn(object, "metadata"), "ownerReferences");
  return stringIn(
    owners.find((owner) => asRecord(owner)?.["controller"] === true),
    "uid",
  );
}
