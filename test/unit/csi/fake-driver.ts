import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import type { RPC } from "../../../src/csi/client/rpc.ts";
import {
  GetPluginInfoResponse,
  IdentityService,
  NodeExpandVolumeRequest,
  NodeExpandVolumeResponse,
  NodeGetInfoResponse,
  NodePublishVolumeRequest,
  NodeService,
  NodeStageVolumeRequest,
  NodeUnpublishVolumeRequest,
  NodeUnstageVolumeRequest,
} from "../../../src/csi/gen/csi.gen.ts";

/** What the driver answers one call with: before it did the work, which it then leaves, or after. */
export interface FakeAnswer {
  readonly work: "before" | "after";
  /** A status; undefined: OK with `bytes`, or with the usual reply. */
  readonly code?: number;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  /** Sends headers first, and a status without anything beside it. */
  readonly headersFirst?: boolean;
}

/** A call that is not answered yet. */
export interface HeldCall {
  readonly rpc: RPC;
  readonly request: Buffer;
  answer(answer: FakeAnswer): void;
}

/**
 * A CSI driver whose volumes are entries of two sets, served by a real gRPC server on a real socket. It answers OK
 * after the work, or as `answers` says.
 */
export class FakeDriver {
  name: string;
  readonly socket: string;
  readonly staged = new Set<string>();
  readonly published = new Set<string>();
  capacity = "0";
  /** By call; a function may hold the call. */
  readonly answers = new Map<RPC, FakeAnswer | ((call: HeldCall) => void)>();
  readonly calls: RPC[] = [];
  #server = new Server();
  readonly #ownDirectory: string | undefined;

  constructor(name = "fake.csi.example.com", socket?: string) {
    this.name = name;
    this.#ownDirectory = socket === undefined ? mkdtempSync(join(tmpdir(), "nodevolume-csi-")) : undefined;
    this.socket = socket ?? join(this.#ownDirectory ?? "", "csi.sock");
  }

  async start(): Promise<this> {
    this.#server = new Server();
    this.#add(IdentityService);
    this.#add(NodeService);
    await new Promise<void>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      this.#server.bindAsync(`unix:${this.socket}`, credentials, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    return this;
  }

  /** At once, as if it had been killed: calls are cut off. */
  stop(): void {
    this.#server.forceShutdown();
  }

  end(): void {
    this.stop();
    if (this.#ownDirectory !== undefined) rmSync(this.#ownDirectory, { recursive: true, force: true });
  }

  /** Bytes in, bytes out: so that replies can be anything. */
  #add(service: ServiceDefinition): void {
    const definition: { [name: string]: ServiceDefinition[string] } = {};
    const handlers: { [name: string]: UntypedHandleCall } = {};
    for (const [name, method] of Object.entries(service)) {
      const raw = (bytes: Buffer) => bytes;
      definition[name] = { ...method, requestDeserialize: raw, responseSerialize: raw };
      handlers[name] = (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        this.#serve(method.path.slice(method.path.lastIndexOf("/") + 1) as RPC, call, done);
      };
    }
    this.#server.addService(definition, handlers);
  }

  #serve(rpc: RPC, call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>): void {
    this.calls.push(rpc);
    const { request } = call;
    const answer = (how: FakeAnswer) => {
      if (how.work === "after") this.#work(rpc, request);
      if (how.headersFirst) call.sendMetadata(call.metadata.clone());
      if (how.code !== undefined && how.code !== 0) done({ code: how.code, details: how.text ?? "" });
      else done(null, Buffer.from(how.bytes ?? this.#reply(rpc)));
    };
    const how = this.answers.get(rpc) ?? { work: "after" };
    if (typeof how === "function") how({ rpc, request, answer });
    else answer(how);
  }

  #work(rpc: RPC, request: Buffer): void {
    if (rpc === "NodeStageVolume") this.staged.add(NodeStageVolumeRequest.decode(request).stagingTargetPath);
    if (rpc === "NodeUnstageVolume") this.staged.delete(NodeUnstageVolumeRequest.decode(request).stagingTargetPath);
    if (rpc === "NodePublishVolume") this.published.add(NodePublishVolumeRequest.decode(request).targetPath);
    if (rpc === "NodeUnpublishVolume") this.published.delete(NodeUnpublishVolumeRequest.decode(request).targetPath);
    if (rpc === "NodeExpandVolume") {
      this.capacity = NodeExpandVolumeRequest.decode(request).capacityRange?.requiredBytes ?? "0";
    }
  }

  #reply(rpc: RPC): Uint8Array {
    if (rpc === "GetPluginInfo") {
      return GetPluginInfoResponse.encode(GetPluginInfoResponse.fromPartial({ name: this.name })).finish();
    }
    if (rpc === "NodeGetInfo") {
      return NodeGetInfoResponse.encode(NodeGetInfoResponse.fromPartial({ nodeId: "node-1" })).finish();
    }
    if (rpc === "NodeExpandVolume") {
      return NodeExpandVolumeResponse.encode(
        NodeExpandVolumeResponse.fromPartial({ capacityBytes: this.capacity }),
      ).finish();
    }
    return new Uint8Array();
  }
}
