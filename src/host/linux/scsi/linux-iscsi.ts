import type { Reason } from "../../../api/reasons.ts";
import { VolumeError } from "../../../errors.ts";
import type { Timers } from "../../../ports.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import { type ISCSI, type ISCSILogin, type ISCSIPortal, type ISCSISession, portalText } from "../../ports/iscsi.ts";
import type { Wakeups } from "../../ports/wakeups.ts";
import type { ISCSIOutcome, ISCSIRequest } from "../child/child-protocol.ts";
import { askChild } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { readSessions } from "./iscsi-sessions.ts";

/** Who has the turn, by target; of all operations of this agent. */
export type Turns = Map<string, Promise<unknown>>;

/** Dependencies of iSCSI sessions. */
export interface ISCSIDeps {
  readonly runner: ChildRunner;
  readonly operation: OperationContext;
  readonly turns: Turns;
  readonly wakeups: Pick<Wakeups, "devices">;
  readonly timers: Timers;
  /** A process in the node's mount namespace, if this one is not in it. */
  readonly nodeProcess: number | undefined;
}

/**
 * Sessions by sysfs, which is the node's in every container; all else by the node's iscsiadm, in a disposable child.
 */
export class LinuxISCSI implements ISCSI {
  readonly #deps: ISCSIDeps;

  constructor(deps: ISCSIDeps) {
    this.#deps = deps;
  }

  async exclusively<T>(iqn: string, act: () => Promise<T>): Promise<T> {
    const { turns } = this.#deps;
    const mine = (turns.get(iqn) ?? Promise.resolve()).then(act);
    const over = mine.then(
      () => {},
      () => {},
    );
    turns.set(iqn, over);
    void over.then(() => turns.get(iqn) === over && turns.delete(iqn));
    return mine;
  }

  async sessions(): Promise<readonly ISCSISession[]> {
    return readSessions("/sys");
  }

  async login(login: ISCSILogin): Promise<void> {
    const { iqn, portal } = login;
    const outcome = await this.#run({ login }, portal, iqn);
    if (outcome.step !== "done") throw failure(outcome, login);
  }

  async logout({ number, interface: name, iqn, portal }: ISCSISession): Promise<void> {
    const outcome = await this.#run({ logout: { number, interface: name } }, portal, iqn);
    const gone = async () => (await this.sessions()).every((session) => session.number !== number);
    if (outcome.step === "done" || (await gone())) return;
    throw failure(outcome, { iqn, portal, interface: { name, like: "default" } });
  }

  async found<T>(look: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined> {
    const { wakeups, timers } = this.#deps;
    let wake = Promise.withResolvers<boolean>();
    const stopWatching = wakeups.devices({ woken: () => wake.resolve(true), unavailable: () => {} });
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const cancel = timers.after(withinMs, () => resolve(false));
    try {
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (!(await Promise.race([wake.promise, late]))) return await look(); // an event may get lost
        wake = Promise.withResolvers<boolean>();
      }
    } finally {
      stopWatching();
      cancel();
    }
  }

  async #run(
    what: { login: ISCSILogin } | { logout: { number: number; interface: string } },
    portal: ISCSIPortal,
    iqn: string,
  ): Promise<ISCSIOutcome> {
    const { runner, operation, nodeProcess } = this.#deps;
    const request: ISCSIRequest = { ...what, ...(nodeProcess !== undefined && { nodeProcess }) };
    const waitsFor = { fsType: "iscsi", source: iqn, point: portalText(portal), program: true };
    const reply = await askChild(runner, { kind: "iscsi", request }, operation, { waitsFor });
    if (reply.ok) return reply.value;
    throw new VolumeError("SetUpFailed", "transient", `iscsiadm was not run: ${reply.error.message}`);
  }
}

/**
 * What iscsiadm says of a login that is not worth trying again: no such target, or one that does not prove who it is.
 */
const notAgain = 19;

/** Exit codes of iscsiadm (open-iscsi: include/iscsi_err.h). */
const exits: { readonly [code: number]: Reason } = {
  4: "ServerUnreachable", // transport: no connection
  5: "ServerUnreachable", // what discovery says of all that goes wrong in it, told apart by what is said
  8: "ServerUnreachable", // the connection's timer
  11: "ServerUnreachable", // a PDU's
  12: "InitiatorNotReady", // no such transport
  18: "InitiatorNotReady", // iscsid does not answer
  [notAgain]: "ShareNotFound",
  20: "InitiatorNotReady", // no iscsid
  24: "CredentialsRefused",
  28: "DeviceBusy",
};

/** PURE. What went wrong, and what to do about it. */
export function failure(outcome: ISCSIOutcome, { iqn, portal, interface: by, session }: ISCSILogin): VolumeError {
  const server = { kind: "Server", name: portalText(portal) };
  const error = (reason: Reason, text: string, on = server) => {
    const message = `${iqn} at ${server.name}: ${text}`;
    return new VolumeError(reason, reason === "CredentialsRefused" ? "final" : "transient", message, { on });
  };
  switch (outcome.step) {
    case "done":
      throw new Error("nothing went wrong");
    case "missing": {
      const text = {
        iscsiadm: "the node has no iscsiadm: install open-iscsi (iscsi-initiator-utils) there, and have iscsid run",
        interface: `the node has no iSCSI interface ${by.like}: make it there (iscsiadm -m iface -I ${by.like} -o new), or name another in iscsiInterface`,
        database:
          "the node's iscsiadm keeps its records elsewhere than in /etc/iscsi and /var/lib/iscsi, or that directory is missing: it gets no password to write there. Make it on the node (mkdir -p /var/lib/iscsi)",
      }[outcome.what];
      return error("InitiatorNotReady", text, { kind: "Program", name: "iscsiadm" });
    }
    case "target": {
      const text = `the portal does not name this target to this node, but ${outcome.said || "none"}: correct iqn, or let the node's initiator see it`;
      return error("ShareNotFound", text);
    }
    default: {
      const { step, code } = outcome;
      const said = outcome.said.replaceAll(/\s*\n\s*/g, "; ");
      if (step === "login" && code === notAgain && session?.in !== undefined) {
        const message = `${iqn} at ${server.name}: ${unproved} (exit ${code}: ${said})`;
        return new VolumeError("CredentialsRefused", "transient", message, { on: server });
      }
      const denied = /authori[sz]ation failure|authentication fail/i.test(said);
      const reason = denied ? "CredentialsRefused" : (exits[code] ?? "SetUpFailed");
      const text = `${remedies[reason] ?? `iscsiadm could not ${step}`} (exit ${code}: ${said})`;
      return error(reason, text, reason === "InitiatorNotReady" ? { kind: "Program", name: "iscsid" } : server);
    }
  }
}

const unproved =
  "the target does not authenticate with username_in and password_in of the Secret, or the portal has no such target for this node's initiator: correct the Secret, the target's account, or iqn";

const remedies: { readonly [R in Reason]?: string } = {
  InitiatorNotReady: "iscsid does not run on the node: start it there (systemctl enable --now iscsid)",
  CredentialsRefused:
    "the target lets nobody in with these CHAP credentials: correct the Secret, or what the target has for this initiator",
  ShareNotFound: "the portal has no such target for this node's initiator: correct iqn, or let the initiator see it",
  ServerUnreachable: "the portal does not answer",
  DeviceBusy: "the session is in use",
};
