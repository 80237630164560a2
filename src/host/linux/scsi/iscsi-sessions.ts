import { readdirSync, realpathSync } from "node:fs";
import { type ISCSISession, portalOf } from "../../ports/iscsi.ts";
import { attribute } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";

/**
 * The iSCSI sessions of the node, in the order of their numbers. What goes while it is looked at is left out.
 * @param sys /sys, or a made tree
 */
export function readSessions(sys: string): ISCSISession[] {
  const names = ifThere(() => readdirSync(`${sys}/class/iscsi_session`)) ?? [];
  return names.flatMap((name) => sessionAt(sys, name) ?? []).sort((a, b) => a.number - b.number);
}

function sessionAt(sys: string, name: string): ISCSISession | undefined {
  const place = `${sys}/class/iscsi_session/${name}`;
  const device = ifThere(() => realpathSync(`${place}/device`)) ?? "";
  const [, host, number] = /\/host(\d+)\/session(\d+)$/.exec(device) ?? [];
  const iqn = attribute(`${place}/targetname`);
  if (host === undefined || number === undefined || iqn === "") return undefined;
  const connection = `${sys}/class/iscsi_connection/connection${number}:0`;
  const { address } = portalOf(`[${attribute(`${connection}/persistent_address`)}]`);
  const port = Number(attribute(`${connection}/persistent_port`));
  return {
    number: Number(number),
    host: Number(host),
    iqn,
    portal: { address, port },
    interface: attribute(`${place}/ifacename`),
    state: attribute(`${place}/state`),
  };
}
