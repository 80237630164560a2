import type { EventEmitter } from "node:events";
import { constants, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { silent } from "../../hack/lib/silent-log.ts";
import { ClientWatch } from "../../src/agent/clients.ts";
import { realSystem } from "../../src/system.ts";
import type { RealNode } from "./real-node.ts";

/** Watches a node's clients, as the agent does; each end is an event "end". */
export function watchClients(node: RealNode, heard: EventEmitter): ClientWatch {
  const { wakes, directories } = node.host;
  const watch = new ClientWatch({ system: realSystem(silent), wakes, directories, onChange: () => heard.emit("end") });
  node.ended = watch.ended;
  return watch;
}

/** Whether a process writes to a file whose name ends so at its end only, wherever that is by then. */
export function appendsTo(pid: number, name: string): boolean {
  const fd = readdirSync(`/proc/${pid}/fd`).find((each) => readlinkSync(`/proc/${pid}/fd/${each}`).endsWith(name));
  const flags = /flags:\s*([0-7]+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
  return (Number.parseInt(flags, 8) & constants.O_APPEND) !== 0;
}
