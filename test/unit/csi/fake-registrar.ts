import { Server, ServerCredentials } from "@grpc/grpc-js";
import {
  type PluginInfo,
  type RegistrationServer,
  RegistrationService,
  type RegistrationStatus,
} from "../../../src/csi/gen/pluginregistration.gen.ts";

/** What node-driver-registrar does: tells of a driver on a socket, and hears what came of it. */
export class FakeRegistrar {
  readonly socket: string;
  info: PluginInfo;
  asked = 0;
  readonly heard: RegistrationStatus[] = [];
  readonly #server = new Server();
  /** Answers a notification with an error. */
  refusesToHear = false;
  #onHeard: () => void = () => {};
  #onAsked: (answer: () => void) => void = (answer) => answer();

  constructor(socket: string, info: Partial<PluginInfo>) {
    this.socket = socket;
    this.info = { type: "CSIPlugin", name: "", endpoint: "", supportedVersions: ["1.0.0"], ...info };
  }

  async start(): Promise<this> {
    const handlers: RegistrationServer = {
      getInfo: (_call, done) => {
        this.asked += 1;
        this.#onAsked(() => done(null, this.info));
      },
      notifyRegistrationStatus: ({ request }, done) => {
        if (this.refusesToHear) return done({ code: 13, details: "not listening" });
        this.heard.push(request);
        done(null, {});
        this.#onHeard();
      },
    };
    this.#server.addService(RegistrationService, handlers);
    const credentials = ServerCredentials.createInsecure();
    await new Promise<void>((resolve, reject) => {
      this.#server.bindAsync(`unix:${this.socket}`, credentials, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    return this;
  }

  /** Resolves when it is asked for its information, with the answer that it owes. */
  holdInfo(): Promise<{ answer(): void }> {
    return new Promise((resolve) => {
      this.#onAsked = (answer) => resolve({ answer });
    });
  }

  /** Resolves with the first status that `matches`, heard already or later. */
  async status(matches: (status: RegistrationStatus) => boolean = () => true): Promise<RegistrationStatus> {
    for (;;) {
      const found = this.heard.find(matches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#onHeard = resolve;
      });
    }
  }

  /** Ends it at once, and with it its socket file. */
  stop(): void {
    this.#server.forceShutdown();
  }
}
