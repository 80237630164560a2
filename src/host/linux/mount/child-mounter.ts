import { VolumeError } from "../../../errors.ts";
import type { FilesystemMount, Mounter, OperationContext } from "../../ports/host-ports.ts";
import { describeRemote, isOfServer, type RemoteMount } from "../../ports/servers.ts";
import { askChild, broke, errorOf, isKnown, runProgram } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { findProgram } from "../child/find-program.ts";
import { type MountHelper, mountHelpers } from "./mount-helpers.ts";

/**
 * What a file system answers whose server is gone: FUSE (ENOTCONN; ECONNABORTED to who waited when it died), NFS
 * (ESTALE of an export that went; EIO and ETIMEDOUT of a soft mount), SMB and Ceph. Not EACCES, which a FUSE file
 * system of another user answers root with (behaviour 120).
 */
const serverGone = new Set([
  "ENOTCONN",
  "ECONNABORTED",
  "ESTALE",
  "EIO",
  "ETIMEDOUT",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ESHUTDOWN",
]);

/** The in-process mounter, run in a disposable child for each call. */
export class ChildMounter implements Mounter {
  readonly #runner: ChildRunner;
  readonly #operation: OperationContext;
  readonly #waitsFor: RemoteMount | undefined;

  /** @param waitsFor the mount on the way that may not answer */
  constructor(runner: ChildRunner, operation: OperationContext, waitsFor?: RemoteMount) {
    this.#runner = runner;
    this.#operation = operation;
    this.#waitsFor = waitsFor;
  }

  inspect: Mounter["inspect"] = (...args) => this.#call("inspect", args);
  makeSource: Mounter["makeSource"] = (...args) => this.#call("makeSource", args);
  inspectTarget: Mounter["inspectTarget"] = (...args) => this.#call("inspectTarget", args);
  makeTarget: Mounter["makeTarget"] = (...args) => this.#call("makeTarget", args);
  removeTarget: Mounter["removeTarget"] = (...args) => this.#call("removeTarget", args);
  bind: Mounter["bind"] = (...args) => this.#call("bind", args);
  setAttributes: Mounter["setAttributes"] = (...args) => this.#call("setAttributes", args);
  reconfigure: Mounter["reconfigure"] = (...args) => this.#call("reconfigure", args);
  sizeOf: Mounter["sizeOf"] = (...args) => this.#call("sizeOf", args);
  unmount: Mounter["unmount"] = (...args) => this.#call("unmount", args);

  mountFilesystem(request: FilesystemMount): Promise<void> {
    const helper = mountHelpers[request.fsType];
    if (helper !== undefined) return this.#mountBy(helper, request);
    return this.#call("mountFilesystem", [request], isOfServer(request.source) ? remoteOf(request) : undefined);
  }

  /**
   * The helper is started itself, as mount(8) would: that one would be killed at the deadline, and its helper go on.
   * The target is our own staging path.
   */
  async #mountBy(helper: MountHelper, request: FilesystemMount): Promise<void> {
    const { readOnly, nosuid, nodev } = request.attributes;
    const flags = [readOnly ? "ro" : "rw", ...(nosuid ? ["nosuid"] : []), ...(nodev ? ["nodev"] : [])];
    const file = findProgram(helper.program);
    const child = { kind: "exec", file, args: helper.args(request, flags), env: helper.env(request) } as const;
    const result = await runProgram(this.#runner, child, this.#operation, { waitsFor: remoteOf(request) });
    if (result.code !== 0) throw helper.failure(request, result.stderr.trim());
  }

  async #call<T>(method: keyof Mounter, args: readonly unknown[], waitsFor = this.#waitsFor): Promise<T> {
    const options = waitsFor && { waitsFor };
    const reply = await askChild(this.#runner, { kind: "mounter", method, args }, this.#operation, options);
    if (reply.ok) return reply.value as T;
    const { message, code = "" } = reply.error;
    if (isKnown(reply.error) || broke(reply.error)) throw errorOf(reply.error);
    throw waitsFor && serverGone.has(code) ? unreachable(waitsFor, code) : new Error(message);
  }
}

function remoteOf({ fsType, source, target }: FilesystemMount): RemoteMount {
  return { fsType, source, point: target.path };
}

function unreachable(mount: RemoteMount, code: string): VolumeError {
  const message = `the server of ${describeRemote(mount)} is gone (${code}): start it again, and mount what it serves anew at the same place`;
  return new VolumeError("ServerUnreachable", "transient", message, { on: { kind: "Mount", name: mount.point } });
}
