import { Refusal } from "../lib/serve.ts";
import type { Storage } from "./storage.ts";

/** @throws Refusal if no id is given, or there is no such volume */
export function needVolume(storage: Storage, id: string): void {
  if (id === "") throw new Refusal("INVALID_ARGUMENT", "volume_id is missing");
  if (storage.volume(id) === undefined) throw new Refusal("NOT_FOUND", `there is no volume ${id}`);
}

/** @throws Refusal if it is empty */
export function needPath(name: string, path: string): void {
  if (path === "") throw new Refusal("INVALID_ARGUMENT", `${name} is missing`);
}
