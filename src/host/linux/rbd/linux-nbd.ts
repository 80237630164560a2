import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { VolumeError } from "../../../errors.ts";
import type { NBDImages, NBDRequest, NBDServed } from "../../ports/ceph.ts";
import type { Programs } from "../../ports/programs.ts";
import type { ChildProcessID } from "../../ports/types.ts";
import { askChild, refusalOf, runProgram } from "../child/child-reply.ts";
import type { ChildResult } from "../child/child-runner.ts";
import { isExpectedDevice } from "../child/expected-device.ts";
import { findProgram } from "../child/find-program.ts";
import { staysMark } from "../child/leave-cgroup.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";
import type { ClientsDeps, LinuxClients } from "../mount/linux-fuse-clients.ts";
import { loadModule } from "./load-module.ts";
import { nbdProgram as program } from "./nbd-clients.ts";
import { clusterOf, codeOf, codeOfLog, refusal, unmapArgs } from "./rbd-text.ts";

/** To say what it does, nowhere but to who has started it. Keys are in no line of these parts of it. */
const told = ["--log-to-stderr", "--debug-rbd=10", "--debug-monc=10"] as const;

/** By the kernel's netlink: a device that was made so is told by its cookie, and outlives its process for a time. */
export class LinuxNBD implements NBDImages {
  readonly #deps: Pick<ClientsDeps, "runner" | "operation" | "hostRoot">;
  readonly #programs: Programs;
  readonly #clients: Pick<LinuxClients, "warnOf">;

  constructor(
    deps: Pick<ClientsDeps, "runner" | "operation" | "hostRoot">,
    programs: Programs,
    clients: Pick<LinuxClients, "warnOf">,
  ) {
    this.#deps = deps;
    this.#programs = programs;
    this.#clients = clients;
  }

  async find(cookie: string): Promise<NBDServed> {
    const device = await this.deviceOf(cookie);
    const client = await this.#clientOf(cookie, device);
    return { ...(device !== undefined && { device }), ...(client && { client }) };
  }

  async deviceOf(cookie: string): Promise<string | undefined> {
    const disk = disks().find((name) => isExpectedDevice({ file: backendOf(name), text: cookie }));
    return disk === undefined ? undefined : `/dev/${disk}`;
  }

  /** @throws VolumeError, if it cannot be told */
  async #clientOf(cookie: string, device: string | undefined): Promise<ChildProcessID | undefined> {
    const { runner, operation, hostRoot } = this.#deps;
    const disk = device === undefined ? {} : { disk: basename(device) };
    const reply = await askChild(runner, { kind: "nbdClient", query: { cookie, ...disk, hostRoot } }, operation);
    if (reply.ok) return reply.value;
    const message = `it is unknown whether an ${program} runs: ${reply.error.message}`;
    throw new VolumeError("SetUpFailed", "transient", message);
  }

  /** It fails without a word for most reasons: then it is asked again, and told to say what it does. */
  async serve(request: NBDRequest, device?: string): Promise<void> {
    await loadModule(this.#programs, "nbd", "/sys/module/nbd", "NBD");
    await this.#makeNodes();
    const words = await this.#serve(request, device, [`--log-file=${request.log}`]);
    if (words === undefined) return;
    const code = codeOf(words) ?? (await this.#codeOfSilence(request, device));
    if (code !== "") throw refusal(request.image, code ?? (words.slice(-512) || `${program} gives no reason`));
  }

  /** @returns what the next one says of why; "" if it serves the image */
  async #codeOfSilence(request: NBDRequest, device: string | undefined): Promise<string | undefined> {
    const said = await this.#serve(request, device, told);
    return said === undefined ? "" : codeOfLog(said);
  }

  /** @returns what it said; undefined if it serves the image */
  async #serve(
    { cookie, monitors, image, args, secret }: NBDRequest,
    device: string | undefined,
    log: readonly string[],
  ) {
    const { runner, operation, hostRoot } = this.#deps;
    const how = device === undefined ? ["map"] : ["attach", `--device=${device}`];
    const given = { secret, ...(hostRoot !== "/" && { outlives: { hostRoot } }) };
    const all = [...how, `--cookie=${cookie}`, ...log, ...args];
    const waitsFor = clusterOf(monitors.join(","), image, device ?? program);
    const work = { kind: "exec", file: findProgram(program), args: all, ...given } as const;
    const { code, stderr } = await runProgram(runner, work, operation, { waitsFor });
    if (code !== 0) return stderr.trim();
    const client = stderr.includes(staysMark) ? await this.#clientOf(cookie, device) : undefined;
    if (client !== undefined) this.#clients.warnOf(stderr, client, image);
    return undefined;
  }

  /**
   * rbd-nbd opens the device in the /dev of the agent's container, which has only the devices that the node had when
   * the container was started.
   */
  async #makeNodes(): Promise<void> {
    const { runner, operation, hostRoot } = this.#deps;
    const missing = disks().filter((name) => hostRoot !== "/" && !existsSync(`/dev/${name}`));
    if (missing.length === 0) return;
    const args = ["--archive", "--no-clobber", "--", ...missing.map((name) => `${hostRoot}/dev/${name}`), "/dev"];
    const { code, stderr } = await runProgram(runner, { kind: "exec", file: findProgram("cp"), args }, operation);
    if (code === 0) return;
    const message = `the agent's container gets no ${missing[0]} of the node in its /dev: ${outputExcerpt(stderr)}`;
    throw new VolumeError("SetUpFailed", "transient", message);
  }

  async disconnect(cookie: string, device: string): Promise<void> {
    const { runner, operation } = this.#deps;
    const meant = { file: backendOf(basename(device)), text: cookie };
    const work = { kind: "exec", file: findProgram(program), args: unmapArgs(device), meant } as const;
    const left = notDisconnected(device, await runner.run(work, operation));
    if (left !== undefined) throw left;
  }
}

/**
 * Why a device may still be there; undefined if it is gone. It is gone, too, if the child refused to disconnect
 * it because its number is another's by now (prepare in held-device.ts: DeviceBusy).
 */
export function notDisconnected(device: string, result: ChildResult): VolumeError | undefined {
  const refused = refusalOf(result);
  if (result.code === 0 || refused?.reason === "DeviceBusy") return undefined;
  const words = refused?.message ?? (outputExcerpt(result.stderr) || `${program} ended with ${result.code}`);
  const message = `${device} was not taken away: ${words}`;
  return new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: device } });
}

function disks(): string[] {
  return readdirSync("/sys/block").filter((name) => /^nbd\d+$/.test(name));
}

/** Where the kernel shows the cookie of a device. */
function backendOf(disk: string): string {
  return `/sys/block/${disk}/backend`;
}
