import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { ServerAnswer } from "../../ports/servers.ts";
import { attribute } from "../syscall/device-identity.ts";
import { ifThere } from "../syscall/if-there.ts";

/** States of SCSI disks and NVMe controllers in which requests are answered; "" is of devices that have none. */
const working = new Set(["", "running", "created", "quiesce", "live", "new"]);
/** Those in which requests wait for the target. */
const waiting = new Set(["blocked", "created-blocked", "resetting", "connecting"]);

const answers: ServerAnswer = { answers: true };

/**
 * Whether a disk works, by sysfs alone. What device-mapper has made of others works as long as one of them does.
 * @param sys /sys, or a made tree
 * @param deviceNumber `major:minor`
 */
export function diskAnswer(sys: string, deviceNumber: string): ServerAnswer {
  const self = ifThere(() => realpathSync(`${sys}/dev/block/${deviceNumber}`));
  if (self === undefined) return { answers: false, said: "it is not on the node any more" };
  const disk = existsSync(`${self}/partition`) ? dirname(self) : self;
  const beneath = ifThere(() => readdirSync(`${disk}/slaves`)) ?? [];
  const all = beneath.map((name) => diskAnswer(sys, attribute(`${disk}/slaves/${name}/dev`)));
  const first = all.find((answer) => answer.answers) ?? all[0];
  if (first !== undefined) return first;
  const state = attribute(`${disk}/device/state`);
  if (working.has(state)) return answers;
  return waiting.has(state) ? { answers: false } : { answers: false, said: state };
}
