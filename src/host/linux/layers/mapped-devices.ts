import { readdirSync } from "node:fs";
import type { MappedDevice } from "../../ports/block-layers.ts";
import { attribute } from "../syscall/device-identity.ts";
import { ifThere } from "../syscall/if-there.ts";

/** The device-mapper device of a name, by sysfs. @param dev the node's /dev, as the agent sees it */
export function findMapped(name: string, dev: string): MappedDevice | undefined {
  const disks = readdirSync("/sys/block").filter((disk) => disk.startsWith("dm-"));
  const disk = disks.find((each) => attribute(`/sys/block/${each}/dm/name`) === name);
  if (disk === undefined) return undefined;
  const place = `/sys/block/${disk}`;
  const slaves = ifThere(() => readdirSync(`${place}/slaves`)) ?? [];
  const over = slaves.map((slave) => attribute(`${place}/slaves/${slave}/dev`)).filter((number) => number !== "");
  return { path: `${dev}/${disk}`, deviceNumber: attribute(`${place}/dev`), over };
}
