import { cut } from "../../api/conditions.ts";
import type { Answer, Connection, Dialer } from "../client/connection.ts";
import { encoded } from "../client/requests.ts";
import { InfoRequest, PluginInfo, RegistrationStatus } from "../gen/pluginregistration.gen.ts";

/** kubelet's times, in milliseconds (behaviour 115). */
const connectMs = 10_000;
const infoMs = 1_000;
const notifyMs = 5_000;
/** Of what a registrar says, in characters. */
const longestText = 512;

/** The registrar of a plugin could not be reached; the message says why. */
export class RegistrarError extends Error {
  override readonly name = "RegistrarError";
}

/** The registrar that listens on a socket of the registration directory. All reject with RegistrarError. */
export class RegistrationClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async info(): Promise<PluginInfo> {
    if (!(await this.#connection.ready(connectMs))) throw new RegistrarError("nobody answers on the socket");
    const method = "/pluginregistration.Registration/GetInfo";
    const bytes = replyOf("GetInfo", await this.#connection.call(method, encoded(InfoRequest, {}), infoMs));
    try {
      return PluginInfo.decode(bytes);
    } catch {
      throw new RegistrarError("GetInfo: the reply is no PluginInfo");
    }
  }

  /** @param error undefined: it is registered */
  async notify(error: string | undefined): Promise<void> {
    const status = { pluginRegistered: error === undefined, error: error ?? "" };
    const request = encoded(RegistrationStatus, status);
    const method = "/pluginregistration.Registration/NotifyRegistrationStatus";
    replyOf("NotifyRegistrationStatus", await this.#connection.call(method, request, notifyMs));
  }

  close(): void {
    this.#connection.close();
  }
}

function replyOf(rpc: string, answer: Answer): Uint8Array {
  if (answer.kind === "reply") return answer.bytes;
  if (answer.kind === "unsent") throw new RegistrarError(`${rpc}: nobody answers on the socket`);
  throw new RegistrarError(`${rpc}: ${answer.code ?? "an unknown status"}: ${cut(answer.text, longestText)}`);
}

/** Whether somebody answers on a registration socket. */
export async function answers(dialer: Dialer, socket: string): Promise<boolean> {
  const registrar = new RegistrationClient(dialer.dial(socket));
  try {
    await registrar.info();
    return true;
  } catch (error) {
    if (!(error instanceof RegistrarError)) throw error;
    return false;
  } finally {
    registrar.close();
  }
}
