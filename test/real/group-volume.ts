import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync } from "node:fs";
import type { OwnershipRequest } from "../../src/host/ports/ownership.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

/** A volume on a tmpfs of its own, whose files are given to a group. */
export interface GroupVolume {
  readonly place: Scratch;
  /** Where it is mounted. */
  readonly volume: string;
  /** What asks for group 2000 and for all of it, unless said otherwise. */
  request(more?: Partial<OwnershipRequest>): OwnershipRequest;
}

/** Makes one for each test of a suite. */
export function withGroupVolume(given: (there: GroupVolume) => void): void {
  let place: Scratch;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    place = scratch();
    const volume = `${place.path}/volume`;
    mkdirSync(volume);
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "volume", volume]);
    given({ place, volume, request: (more = {}) => ({ ...requestOf(place, volume), ...more }) });
  });
  afterEach(() => place[Symbol.dispose]());
}

function requestOf(place: Scratch, volume: string): OwnershipRequest {
  const [mount] = place.mounts().filter(({ point }) => point === volume);
  if (mount === undefined) throw new Error("the volume is not mounted");
  return { path: volume, mountID: mount.id, device: mount.device, fsGroup: 2000, policy: "Always" };
}

/** Group and rights of an entry, as "2000 660". */
export function groupOf(path: string): string {
  const { gid, mode } = lstatSync(path);
  return `${gid} ${(mode & 0o7777).toString(8)}`;
}
