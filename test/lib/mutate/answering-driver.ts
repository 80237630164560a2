import { rmSync } from "node:fs";
import { join } from "node:path";
import { Server, ServerCredentials, type ServiceError, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { RPC } from "../../../src/csi/client/rpc.ts";
import { GetPluginInfoResponse } from "../../../src/csi/gen/csi.gen.ts";

/** What it says next: bytes in the place of a reply, or a status. */
export type Said = { readonly bytes: Buffer } | { readonly code: number; readonly text: string };

const calls = {
  Identity: ["GetPluginInfo"],
  Node: [
    ...["NodeGetCapabilities", "NodeGetInfo", "NodeStageVolume", "NodeUnstageVolume", "NodePublishVolume"],
    ...["NodeUnpublishVolume", "NodeExpandVolume", "NodeGetVolumeStats"],
  ],
} as const;

/** A CSI driver on a real socket that answers with any bytes at all. It says its own name as it should. */
export async function answeringDriver(directory: string, name: string) {
  let next: Said = { bytes: Buffer.alloc(0) };
  const identity = Buffer.from(GetPluginInfoResponse.encode(GetPluginInfoResponse.fromPartial({ name })).finish());
  const server = new Server();
  for (const [service, methods] of Object.entries(calls)) {
    const definition = Object.fromEntries(
      methods.map((method) => [
        method,
        {
          path: `/csi.v1.${service}/${method}`,
          requestStream: false,
          responseStream: false,
          requestSerialize: (bytes: Buffer) => bytes,
          requestDeserialize: (bytes: Buffer) => bytes,
          responseSerialize: (bytes: Buffer) => bytes,
          responseDeserialize: (bytes: Buffer) => bytes,
        },
      ]),
    );
    const answers = methods.map((method: RPC) => [
      method,
      (_: unknown, reply: (error: Partial<ServiceError> | null, bytes?: Buffer) => void) => {
        if (method === "GetPluginInfo") reply(null, identity);
        else if ("bytes" in next) reply(null, next.bytes);
        else reply({ code: next.code, details: next.text });
      },
    ]);
    server.addService(definition, Object.fromEntries(answers) as UntypedServiceImplementation);
  }
  const socket = join(directory, `${name}.sock`);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return {
    name,
    socket,
    say: (said: Said) => {
      next = said;
    },
    stop() {
      server.forceShutdown();
      rmSync(socket, { force: true });
    },
  };
}
