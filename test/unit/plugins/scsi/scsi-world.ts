import { VolumeError } from "../../../../src/errors.ts";
import type { Scsi, ScsiDisk, ScsiTree } from "../../../../src/host/ports/scsi.ts";
import type { TearDownContext } from "../../../../src/plugins/api/teardown.ts";
import type { StageContext } from "../../../../src/plugins/api/volume-plugin.ts";
import { noPrograms } from "../../../lib/fakes/no-programs.ts";

export const first = "50060e801049cfd1";
export const second = "50060e801049cfd2";
export const wwid = "naa.600508b400105e21";

export function path(host: number, name: string, facts: Partial<ScsiDisk> = {}): ScsiDisk {
  const address = { host, channel: 0, target: 0, lun: 5 };
  const names = ["3600508b400105e21"];
  return {
    ...{
      name,
      deviceNumber: `8:${host}`,
      address,
      state: "running",
      sizeBytes: 1024,
      names,
      wwid,
      lasting: wwid,
      ids: [],
      told: true,
    },
    ...facts,
  };
}

export function tree(facts: Partial<ScsiTree> = {}): ScsiTree {
  const port = (host: number, wwn: string, state = "Online") =>
    ({ kind: "fc", host, channel: 0, target: 0, wwn, state }) as const;
  const hosts = [0, 2, 3].map((host) => ({ host, driver: host === 0 ? "ahci" : "qla2xxx" }));
  return { disks: [], ports: [port(2, first), port(3, second)], hosts, multipathd: false, ...facts };
}

/** What was done, beside a machine that shows one tree after the other. */
export class FakeScsi implements Scsi {
  readonly done: string[] = [];
  readonly #trees: ScsiTree[];

  constructor(...trees: ScsiTree[]) {
    this.#trees = trees;
  }

  async look(): Promise<ScsiTree> {
    const [now = tree()] = this.#trees;
    if (this.#trees.length > 1) this.#trees.shift();
    return now;
  }
  async scan(where: Parameters<Scsi["scan"]>[0]): Promise<void> {
    this.done.push(`scan ${Object.values(where).join(" ")}`);
  }
  async rescan({ name }: ScsiDisk): Promise<void> {
    this.done.push(`rescan ${name}`);
  }
  async remove({ name }: ScsiDisk): Promise<void> {
    this.done.push(`remove ${name}`);
  }
  async refuseUsed({ name }: ScsiDisk): Promise<void> {
    this.done.push(`ask of ${name}`);
  }
  async offer({ name }: ScsiDisk): Promise<void> {
    this.done.push(`offer ${name}`);
  }
  async flushMap({ name }: { name: string }): Promise<void> {
    this.done.push(`flush ${name}`);
  }
  async growMap({ name }: { name: string }): Promise<void> {
    this.done.push(`grow map ${name}`);
  }
}

export function context(scsi: Scsi, more: object = {}) {
  const said: string[] = [];
  const made = { scsi, hostRoot: "/", programs: noPrograms, progress: (text: string) => said.push(text), ...more };
  return { context: made as unknown as StageContext & TearDownContext, said };
}

export async function failure(call: Promise<unknown>): Promise<VolumeError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof VolumeError) return error;
  throw new Error(`no VolumeError but ${error}`);
}

export const map = { name: "mpatha", device: "dm-3", deviceNumber: "254:3", sizeBytes: 1024, paths: ["sdb", "sdc"] };
