import { readdirSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { RBDDevice, RBDDevices, RBDMapping } from "../../ports/ceph.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import type { Programs } from "../../ports/programs.ts";
import type { ExpectedDevice } from "../child/child-protocol.ts";
import { askChild, broke, errorOf, isKnown } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { isExpectedDevice } from "../child/expected-device.ts";
import { unlessGone } from "../syscall/errno.ts";
import { loadModule } from "./load-module.ts";
import { addedText, clusterOf, monitorsIn, refusal } from "./rbd-text.ts";

/** Maps and unmaps RBD images by the kernel's rbd bus in sysfs. */
export class LinuxRBD implements RBDDevices {
  readonly #runner: Pick<ChildRunner, "run">;
  readonly #programs: Programs;
  readonly #operation: OperationContext;
  readonly #bus: string;

  /** @param bus of the one kernel, whatever the namespace */
  constructor(
    runner: Pick<ChildRunner, "run">,
    programs: Programs,
    operation: OperationContext,
    bus: string = "/sys/bus/rbd",
  ) {
    this.#runner = runner;
    this.#programs = programs;
    this.#operation = operation;
    this.#bus = bus;
  }

  async find({ text }: RBDMapping): Promise<RBDDevice | undefined> {
    const ids = unlessGone(() => readdirSync(`${this.#bus}/devices`)) ?? [];
    const id = ids.find((each) => isExpectedDevice({ file: this.#infoOf(each), text }));
    return id === undefined ? undefined : { id, path: `/dev/rbd${id}` };
  }

  async map(mapping: RBDMapping, key: string): Promise<void> {
    await loadModule(this.#programs, "rbd", this.#bus, "RBD");
    const code = await this.#write("add_single_major", addedText(mapping.text, key), mapping);
    if (code !== undefined) throw refusal(mapping.image, code, mapping.text);
  }

  async unmap(mapping: RBDMapping, { id, path }: RBDDevice, force: boolean): Promise<void> {
    const meant = { file: this.#infoOf(id), text: mapping.text };
    const code = await this.#write("remove_single_major", force ? `${id} force` : id, mapping, meant);
    if (code === undefined || code === "ENOENT") return;
    const message =
      code === "EBUSY" ? `${path} is open: a process on the node still uses it` : `${path} was not released: ${code}`;
    throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: path } });
  }

  #infoOf(id: string): string {
    return `${this.#bus}/devices/${id}/config_info`;
  }

  /** In a child: the kernel answers when the cluster does. @returns name of the errno, if it was refused */
  async #write(name: string, text: string, mapping: RBDMapping, meant?: ExpectedDevice): Promise<string | undefined> {
    const file = `${this.#bus}/${name}`;
    const waitsFor = clusterOf(monitorsIn(mapping.text), mapping.image, file);
    const request = { kind: "rbd", file, text, ...(meant && { meant }) } as const;
    const reply = await askChild(this.#runner, request, this.#operation, { waitsFor });
    if (reply.ok) return undefined;
    if (isKnown(reply.error) || broke(reply.error)) throw errorOf(reply.error);
    return reply.error.code ?? "unknown";
  }
}
