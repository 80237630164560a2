// What csi-sanity talks to when csi.nodevolume.dev is tried: two stand-ins, and behind them the driver itself.
import { rmSync } from "node:fs";
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceError,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import {
  ControllerService,
  type CreateVolumeRequest,
  CreateVolumeResponse,
} from "../../../hack/lib/csi/gen/csi.gen.ts";
import * as csi from "../../../src/csi/gen/csi.gen.ts";
import { csiCalls } from "./csi-calls.ts";

export interface PodSanityFrontDeps {
  /** Where it listens. */
  readonly socket: string;
  /** The driver's, as this process has to name it. */
  readonly driver: string;
  /** What kubelet would say of the pod, with the pod's own attributes. */
  readonly volumeContext: ReadonlyMap<string, string>;
}

/**
 * - A stand-in for a controller: csi-sanity wants a volume to be created before it publishes one. Ours are named by the
 *   pod, so that it is given a name, and with it the volume_context.
 * - A stand-in for kubelet: csi-sanity publishes at `<mountdir>/target`, kubelet at `…/mount`. Nothing else of a call
 *   is changed.
 */
export class PodSanityFront {
  readonly #deps: PodSanityFrontDeps;
  readonly #server = new Server();
  /** Calls of the driver that went through, by name. */
  readonly calls = new Map<string, number>();

  constructor(deps: PodSanityFrontDeps) {
    this.#deps = deps;
  }

  async start(): Promise<this> {
    this.#forward(csi.IdentityService, { getPluginCapabilities: () => controllerToo });
    this.#forward(csi.NodeService, {});
    const controller: UntypedServiceImplementation = {
      controllerGetCapabilities: answering(() => ({ capabilities: [{ rpc: { type: 1 } }] })), // CREATE_DELETE_VOLUME
      createVolume: answering(({ name }: CreateVolumeRequest) =>
        CreateVolumeResponse.fromPartial({
          volume: { volumeId: `csi-${name}`, volumeContext: new Map(this.#deps.volumeContext) },
        }),
      ),
      deleteVolume: answering(() => ({})),
    };
    this.#server.addService(ControllerService, controller);
    const { socket } = this.#deps;
    rmSync(socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    return this;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  /** Each method of the service, answered by the driver; what `instead` has, by this. */
  #forward(service: object, instead: { readonly [method: string]: () => object }): void {
    const implementation: UntypedServiceImplementation = {};
    for (const method of Object.keys(service)) {
      implementation[method] = (async ({ request }, answer) => {
        using driver = csiCalls(this.#deps.driver);
        try {
          const reply = await driver.call(method, asKubelet(request));
          this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
          answer(null, instead[method]?.() ?? reply);
        } catch (error) {
          const { code, details } = error as ServiceError;
          answer({ code, details });
        }
      }) satisfies handleUnaryCall<object, object>;
    }
    this.#server.addService(service as never, implementation);
  }
}

const controllerToo = csi.GetPluginCapabilitiesResponse.fromPartial({ capabilities: [{ service: { type: 1 } }] });

function asKubelet(request: { targetPath?: string }): object {
  const { targetPath } = request;
  return targetPath ? { ...request, targetPath: targetPath.replace(/\/target$/, "/mount") } : request;
}

function answering<Request>(reply: (request: Request) => object): handleUnaryCall<Request, object> {
  return ({ request }, answer) => answer(null, reply(request));
}
