// Calls of a CSI driver as a test makes them: by the generated stubs alone, apart from the product's client.
import { type CallOptions, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import * as controller from "../../../hack/lib/csi/gen/csi.gen.ts";
import * as csi from "../../../src/csi/gen/csi.gen.ts";

const Mode = csi.VolumeCapability_AccessMode_Mode;

type Messages = { readonly [name: string]: { fromPartial(message: object): object } };
const messages = { ...controller, ...csi } as unknown as Messages;
type Done = (error: ServiceError | null, reply: never) => void;
type Unary = (request: object, metadata: Metadata, options: CallOptions, done: Done) => void;

export interface CSICalls extends Disposable {
  /** @throws ServiceError with the code of the answer @param method such as nodeStageVolume */
  call<T = object>(method: string, request?: object, deadlineMs?: number): Promise<T>;
}

/** @param socket as this process has to name it */
export function csiCalls(socket: string): CSICalls {
  const make = [csi.IdentityClient, controller.ControllerClient, csi.NodeClient];
  // The size of a reply is a matter of the product's client.
  const options = { "grpc.max_receive_message_length": -1 };
  const clients = make.map((Client) => new Client(`unix:${socket}`, credentials.createInsecure(), options));
  return {
    call(method, request = {}, deadlineMs = 20_000) {
      const client = clients.find((c) => method in c) as unknown as { [method: string]: Unary } | undefined;
      if (client === undefined) throw new Error(`there is no ${method}`);
      const message = `${method.charAt(0).toUpperCase()}${method.slice(1)}Request`;
      const whole = messages[message]?.fromPartial(request);
      if (whole === undefined) throw new Error(`there is no ${message}`);
      return new Promise((resolve, reject) => {
        const done: Done = (error, reply) => (error === null ? resolve(reply) : reject(error));
        client[method]?.(whole, new Metadata(), { deadline: Date.now() + deadlineMs }, done);
      });
    },
    [Symbol.dispose]() {
      for (const client of clients) client.close();
    },
  };
}

export const mountable = (
  mount: Partial<NonNullable<csi.VolumeCapability["mount"]>> = {},
  mode: number = Mode.SINGLE_NODE_WRITER,
) => ({
  mount: { fsType: "", mountFlags: [], volumeMountGroup: "", ...mount },
  accessMode: { mode },
});

export const raw = (mode: number = Mode.SINGLE_NODE_WRITER) => ({ block: {}, accessMode: { mode } });
