import { cut } from "../../api/conditions.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Sockets } from "../../host/ports/sockets.ts";
import type { Connection, Dialer } from "../client/connection.ts";
import { DriverClient } from "../client/driver-client.ts";
import { nodeClient } from "../client/node-client.ts";
import type { RegisteredDriver } from "../ports.ts";
import { introductionOf } from "./registration-check.ts";
import { RegistrarError, RegistrationClient } from "./registration-client.ts";

/** What stands in the way, in characters. */
const longestText = 512;

/** A driver that may be used from now on, until `close`. */
export interface Registered extends RegisteredDriver {
  close(): void;
}

/** How one attempt to register what listens on a socket ended. */
export type Attempt =
  | { readonly kind: "registered"; readonly driver: Registered }
  /** A plugin of another kind, which stays one. */
  | { readonly kind: "other"; readonly type: string }
  /** It must change before it can be taken. */
  | { readonly kind: "refused"; readonly why: string }
  /** It may be taken later, as it is. */
  | { readonly kind: "failed"; readonly why: string };

/** Dependencies of the registration of one driver (pluginregistration.v1). */
export interface RegisterDeps {
  readonly dialer: Dialer;
  readonly sockets: Pick<Sockets, "kindOf">;
  /** The node's root directory for this process, without a slash at its end: endpoints are paths of the node. */
  readonly hostRoot: string;
  /**
   * Whether a refusal is reported to the registrar. A node-driver-registrar exits after a refusal, which would end the
   * registration of the same driver at kubelet: next to kubelet, a refusal is only logged.
   */
  readonly refusals: "told" | "logged";
}

/** One socket in the registration directory, and its claim on a driver's name. */
export interface RegisterInput {
  /** Of the registration directory. */
  readonly socket: string;
  /** Takes the name for this socket. @returns why it cannot have it, or undefined if it has it now */
  claim(name: string): Promise<string | undefined>;
  /** Whether the socket is still wanted: it may have gone while somebody was asked. */
  wanted(): boolean;
  /** Told when a driver was not there to be called, once it is again. */
  onReturn(name: string): void;
}

/** Asks who listens on a registration socket, and checks that. Never rejects for what the other side does. */
export async function register(deps: RegisterDeps, input: RegisterInput): Promise<Attempt> {
  const registrar = new RegistrationClient(deps.dialer.dial(input.socket));
  try {
    const attempt = await introduce(deps, input, registrar);
    if (attempt.kind !== "refused" || deps.refusals === "logged" || !input.wanted()) return attempt;
    return await tellRefusal(registrar, attempt.why);
  } catch (error) {
    if (!(error instanceof RegistrarError)) throw error;
    return failed(error.message);
  } finally {
    registrar.close();
  }
}

async function tellRefusal(registrar: RegistrationClient, why: string): Promise<Attempt> {
  try {
    await registrar.notify(why);
    return { kind: "refused", why };
  } catch (error) {
    if (!(error instanceof RegistrarError)) throw error;
    return { kind: "refused", why: `${why}; its registrar could not be notified: ${error.message}` };
  }
}

async function introduce(deps: RegisterDeps, input: RegisterInput, registrar: RegistrationClient): Promise<Attempt> {
  const introduction = introductionOf(await registrar.info(), input.socket, deps.hostRoot);
  switch (introduction.kind) {
    case "other":
      return { kind: "other", type: cut(introduction.type, 64) };
    case "refused":
      return refused(introduction.why);
    case "driver": {
      const { name, endpoint, path } = introduction;
      const kind = await deps.sockets.kindOf(path);
      if (kind === undefined) return failed(`nothing is at its endpoint ${endpoint}`);
      if (kind === "other") return refused(`its endpoint ${endpoint} is not a unix socket`);
      const claimed = await input.claim(name);
      if (claimed !== undefined) return refused(claimed);
      return connect(deps.dialer.dial(path), { name, endpoint }, input, registrar);
    }
  }
}

/** The driver itself says its name before its registrar is told that it is known. */
async function connect(
  connection: Connection,
  { name, endpoint }: { readonly name: string; readonly endpoint: string },
  input: RegisterInput,
  registrar: RegistrationClient,
): Promise<Attempt> {
  using stack = new DisposableStack();
  stack.defer(() => connection.close());
  const client = new DriverClient(name, connection, () => input.onReturn(name));
  try {
    await client.checkName();
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    return error.reason === "DriverReplyInvalid" ? refused(error.message) : failed(messageOf(error));
  }
  if (!input.wanted()) return failed("its registration socket is gone");
  await registrar.notify(undefined);
  stack.move();
  const driver = { name, endpoint, node: nodeClient(client, connection), close: () => connection.close() };
  return { kind: "registered", driver };
}

/** Its text goes to the registrar and to the log. */
function refused(why: string): Attempt {
  return { kind: "refused", why: cut(why, longestText) };
}

function failed(why: string): Attempt {
  return { kind: "failed", why: cut(why, longestText) };
}
