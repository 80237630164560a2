import { VolumeError } from "../../errors.ts";
import type { Programs } from "../../host/ports/programs.ts";
import type { Vendors } from "../api/teardown-data.ts";
import { type FlexCapabilities, type FlexReply, type FlexStatus, replyOf } from "./reply.ts";

/** The commands of the contract that this agent uses, as of Kubernetes 1.8. */
export type FlexCommand =
  | "init"
  | "getvolumename"
  | "attach"
  | "detach"
  | "waitforattach"
  | "isattached"
  | "mountdevice"
  | "unmountdevice"
  | "mount"
  | "unmount"
  | "expandvolume"
  | "expandfs";

/** What is known of a driver as long as it is the same program. */
interface Known {
  readonly identity: string;
  readonly unsupported: Set<string>;
  capabilities?: FlexCapabilities;
}

/**
 * One vendor's flexvolume driver: a program of the node that runs once per call. It is checked before each call,
 * because it may have been replaced; its capabilities, and commands that it does not support, are remembered until
 * then. (kubelet: pkg/volume/flexvolume)
 */
export class FlexDriver {
  readonly name: string;
  /** Where it is on the node. */
  readonly path: string;
  readonly #programs: Programs;
  readonly #vendors: Vendors;

  /** @param name `vendor/driver`, or `driver` */
  constructor(name: string, { programs, vendors }: { readonly programs: Programs; readonly vendors: Vendors }) {
    this.name = name;
    this.path = `${vendors.directory}/${name.replace("/", "~")}/${name.split("/").at(-1)}`;
    this.#programs = programs;
    this.#vendors = vendors;
  }

  /** @throws VolumeError as `call` */
  async capabilities(): Promise<FlexCapabilities> {
    const known = await this.#known();
    if (known.capabilities !== undefined) return known.capabilities;
    const status = await this.#run(known, "init", []);
    if (status === undefined) throw this.#error("DriverReplyInvalid", "init", "it does not support init");
    known.capabilities = status.capabilities;
    return status.capabilities;
  }

  /**
   * @returns undefined if the driver does not support the command
   * @throws VolumeError DriverMissing, DriverFailed, DriverReplyInvalid; TimedOut and others of the child: uncertain
   */
  async call(command: FlexCommand, ...args: readonly string[]): Promise<FlexStatus | undefined> {
    await this.capabilities(); // no driver is asked for anything before it was told to begin
    return this.#run(await this.#known(), command, args);
  }

  async #run(known: Known, command: FlexCommand, args: readonly string[]): Promise<FlexStatus | undefined> {
    if (known.unsupported.has(command)) return undefined;
    const reply: FlexReply = replyOf(await this.#programs.run(this.path, [command, ...args]));
    if (reply.kind === "success") return reply.status;
    if (reply.kind === "invalid") throw this.#error("DriverReplyInvalid", command, reply.message);
    if (reply.kind === "failure") throw this.#error("DriverFailed", command, reply.message);
    known.unsupported.add(command);
    return undefined;
  }

  async #known(): Promise<Known> {
    const identity = await this.#programs.identify(this.path);
    if (identity === undefined) {
      const message = `the flexvolume driver ${this.name} is not on the node: there is no program ${this.path}. Install it there`;
      throw new VolumeError("DriverMissing", "transient", message, { on: { kind: "Program", name: this.path } });
    }
    const before = this.#vendors.known.get(this.path) as Known | undefined; // of this class alone
    if (before?.identity === identity) return before;
    const known: Known = { identity, unsupported: new Set() };
    this.#vendors.known.set(this.path, known);
    return known;
  }

  #error(reason: "DriverFailed" | "DriverReplyInvalid", command: string, message: string): VolumeError {
    const on = { kind: "Program", name: this.path };
    return new VolumeError(reason, "transient", `${this.name} ${command}: ${message}`, { on });
  }
}
