import type { EventEmitter } from "node:events";
import { constants, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect } from "chai";
import { silent } from "../../../hack/lib/silent-log.ts";
import { ClientWatch } from "../../../src/agent/health/fuse-client-watch.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { ChildProcessID } from "../../../src/host/ports/types.ts";
import { realSystem } from "../../../src/system.ts";
import type { RealNode } from "./real-node.ts";

/** Watches a node's clients, as the agent does; each end is an event "end". */
export function watchClients(node: RealNode, heard: EventEmitter): ClientWatch {
  const { wakeups, directories } = node.host;
  const watch = new ClientWatch({
    system: realSystem(silent),
    wakeups,
    directories,
    onChange: () => heard.emit("end"),
  });
  node.ended = watch.ended;
  return watch;
}

/** Until nothing is left to do, with the watch told of it as the agent's is. @param name without the node's */
export async function settle(node: RealNode, watch: ClientWatch, name: string): Promise<VolumePlan> {
  const plan = await node.converge();
  watch.planned({ changed: new Map([...plan.volumes.keys()].map((key) => [key, undefined])), volumes: plan.volumes });
  const found = plan.volumes.get(asVolumeName(`node.${name}`));
  if (found === undefined) throw new Error(`no plan for ${name}`);
  return found;
}

/** The same, and that nothing has failed. @returns the client that serves the volume */
export async function mountedBy(node: RealNode, watch: ClientWatch, name: string): Promise<ChildProcessID> {
  const { failure, record } = await settle(node, watch, name);
  expect(failure?.message).to.equal(undefined);
  if (record?.stage?.client === undefined) throw new Error("no client on record");
  return record.stage.client;
}

/** Whether a process writes to a file whose name ends so at its end only, wherever that is by then. */
export function appendsTo(pid: number, name: string): boolean {
  const fd = readdirSync(`/proc/${pid}/fd`).find((each) => readlinkSync(`/proc/${pid}/fd/${each}`).endsWith(name));
  const flags = /flags:\s*([0-7]+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
  return (Number.parseInt(flags, 8) & constants.O_APPEND) !== 0;
}
