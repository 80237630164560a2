import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { driverError } from "../../../src/csi/client/driver-client.ts";
import { outcomeOf } from "../../../src/csi/client/error-classes.ts";
import type { CSIDrivers, NodeCapabilities, NodeService, RegisteredDriver } from "../../../src/csi/ports.ts";
import { parseMountinfo } from "../../../src/host/mount-table/mountinfo.ts";
import type { Cancel } from "../../../src/ports.ts";

export type FakeCall = "stage" | "unstage" | "publish" | "unpublish" | "expand";

/** What goes otherwise with one call: it fails before or after it was done, or is said to be done and is not. */
export interface FakeFault {
  readonly call: FakeCall;
  readonly when: "before" | "after";
  /** None: OK is answered; with "before", without doing anything. */
  readonly error?: Error;
}

/**
 * A CSI driver without a process or socket, which really mounts in the namespace that the test runs in: a tmpfs on the
 * staging path and binds of it, or, without STAGE_UNSTAGE_VOLUME, a bind of a directory; a device's node for volumeMode
 * Block. Idempotent as CSI asks.
 */
export class FakeCSIDriver implements CSIDrivers {
  readonly name = "fake.csi.example";
  /** Every call with its paths, in order. */
  readonly calls: string[] = [];
  /** Secrets and contexts that came with each call. */
  readonly requests: { readonly call: FakeCall; readonly [key: string]: unknown }[] = [];
  capabilities: NodeCapabilities = {
    stageUnstage: true,
    expand: false,
    stats: false,
    volumeMountGroup: false,
    singleNodeMultiWriter: false,
    volumeCondition: false,
  };
  registered = true;
  /** Used up one by one, by the first call that they are of. */
  faults: FakeFault[] = [];
  /** Bound instead of a tmpfs on the staging path. */
  directory: string | undefined;
  /** Whether it mounts with the SELinux label that it is asked for, which takes a kernel with SELinux. */
  labels = false;
  /** Device that is published for volumeMode Block. */
  device = "/dev/null";
  /** Waited for within each call, before anything is done. */
  before: (call: FakeCall) => Promise<void> = async () => {};
  /** What a publish does where something is published already: nothing, as CSI asks. */
  onRepublish: (targetPath: string) => void = () => {};
  onExpand: (requiredBytes: string) => string = (requiredBytes) => requiredBytes;
  readonly #listeners = new Set<(name: string) => void>();

  driver(name: string): RegisteredDriver | undefined {
    if (name !== this.name || !this.registered) return undefined;
    return { name, endpoint: "/fake.sock", node: this.#node };
  }

  names(): readonly string[] {
    return this.registered ? [this.name] : [];
  }

  subscribe(onChange: (name: string) => void): Cancel {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  register(registered: boolean): void {
    this.registered = registered;
    for (const listener of this.#listeners) listener(this.name);
  }

  /** A fault of the next call of a kind. */
  fail(call: FakeCall, when: FakeFault["when"], error?: Error): void {
    this.faults.push({ call, when, ...(error && { error }) });
  }

  readonly #node: NodeService = {
    capabilities: async () => this.capabilities,
    info: async () => ({ nodeID: "node", maxVolumesPerNode: 0, accessibleTopology: new Map() }),
    stage: (request) =>
      this.#called("stage", request.stagingPath, request, () => {
        if (layersOn(request.stagingPath) > 0 || request.capability.volume.kind === "block") return;
        if (this.directory !== undefined) mount("--bind", this.directory, request.stagingPath);
        else {
          const { mountFlags } = request.capability.volume;
          const options = ["size=8m", ...(this.labels ? mountFlags.filter((flag) => flag.startsWith("context=")) : [])];
          mount("-t", "tmpfs", "-o", options.join(","), `fake-${request.volumeID}`, request.stagingPath);
        }
      }),
    unstage: (request) => this.#called("unstage", request.stagingPath, request, () => unmount(request.stagingPath)),
    publish: (request) =>
      this.#called("publish", request.targetPath, request, () => {
        const { targetPath, stagingPath, capability, readOnly } = request;
        if (layersOn(targetPath) > 0) return this.onRepublish(targetPath);
        const block = capability.volume.kind === "block";
        if (block) writeFileSync(targetPath, "");
        else mkdirSync(targetPath, { recursive: true });
        mount("--bind", block ? this.device : (stagingPath ?? this.directory ?? "/"), targetPath);
        if (readOnly) mount("-o", "remount,bind,ro", targetPath);
      }),
    unpublish: (request) =>
      this.#called("unpublish", request.targetPath, request, () => {
        unmount(request.targetPath);
        if (!existsSync(request.targetPath)) return;
        if (statSync(request.targetPath).isDirectory()) rmdirSync(request.targetPath);
        else rmSync(request.targetPath);
      }),
    expand: async (request) => {
      await this.#called("expand", request.volumePath, request, () => {});
      return { capacityBytes: this.onExpand(request.requiredBytes) };
    },
    stats: async () => ({ usage: [], condition: undefined }),
  };

  async #called(call: FakeCall, path: string, request: object, effect: () => void): Promise<void> {
    this.calls.push(`${call} ${path.split("/").slice(-2).join("/")}`);
    this.requests.push({ call, ...request });
    if ((call === "stage" || call === "unstage") && !this.capabilities.stageUnstage) return this.#unimplemented(call);
    await this.before(call);
    const at = this.faults.findIndex((fault) => fault.call === call);
    const [fault] = at === -1 ? [] : this.faults.splice(at, 1);
    if (fault?.when === "before") {
      if (fault.error !== undefined) throw fault.error;
      return; // says that it is done
    }
    effect();
    if (fault?.error !== undefined) throw fault.error;
  }

  #unimplemented(call: "stage" | "unstage"): void {
    const rpc = call === "stage" ? "NodeStageVolume" : "NodeUnstageVolume";
    const outcome = outcomeOf(rpc, "UNIMPLEMENTED", true);
    if (outcome === "done") return;
    const text = "unknown method";
    throw driverError({ driver: this.name, rpc, outcome, what: "UNIMPLEMENTED", text, secrets: [] });
  }

  /** The kinds of the calls, in order. */
  get kinds(): string[] {
    return this.calls.map((call) => call.split(" ")[0] ?? "");
  }
}

function layersOn(path: string): number {
  return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).filter(({ point }) => point === path).length;
}

function mount(...args: readonly string[]): void {
  execFileSync("mount", args);
}

function unmount(path: string): void {
  while (layersOn(path) > 0) execFileSync("umount", [path]);
}
