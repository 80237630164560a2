/** A connection of this node to an iSCSI target, as sysfs shows it. */
export interface ISCSISession {
  /** The kernel's number of it: no other has it until the next boot. */
  readonly number: number;
  /** The SCSI host that it is. */
  readonly host: number;
  readonly iqn: string;
  /** As who logged in named it. */
  readonly portal: ISCSIPortal;
  /** Name of the interface that it was logged in by: it tells whose it is. */
  readonly interface: string;
  /** The kernel's word for whether it works: `LOGGED_IN`, `FAILED`, `FREE`. */
  readonly state: string;
}

/** Host name or address, an IPv6 one without brackets. */
export interface ISCSIPortal {
  readonly address: string;
  readonly port: number;
}

/** How the node presents itself to a target. */
export interface ISCSIInterface {
  readonly name: string;
  /** The node's interface that it is otherwise like: `default`, one of an adapter, or one that people have made. */
  readonly like: string;
  /** Instead of the node's own. */
  readonly initiatorName?: string;
}

/** What CHAP goes by: we to the target, and with `in` the target to us. */
export interface ISCSICredentials {
  readonly username: string;
  readonly password: string;
  readonly in?: { readonly username: string; readonly password: string };
}

/** A login to an iSCSI target. Without `session` credentials there is no CHAP. */
export interface ISCSILogin {
  readonly iqn: string;
  readonly portal: ISCSIPortal;
  readonly interface: ISCSIInterface;
  readonly session?: ISCSICredentials;
  /** The target is looked for by SendTargets first, with these. */
  readonly discovery?: ISCSICredentials;
}

/**
 * The node's iSCSI initiator: its iscsid has the sessions, its iscsiadm tells it what to do. Nothing of it is written
 * to the node's own configuration. All reject with VolumeError.
 */
export interface ISCSI {
  /** One at a time for each target on this node: whoever logs in, looks for a LUN or logs out. */
  exclusively<T>(iqn: string, act: () => Promise<T>): Promise<T>;
  sessions(): Promise<readonly ISCSISession[]>;
  /**
   * Logs in. LUNs are not looked for.
   * @throws VolumeError CredentialsRefused, ShareNotFound (there is no such target), ServerUnreachable,
   *   InitiatorNotReady; TimedOut and OperationAbandoned: uncertain
   */
  login(request: ISCSILogin): Promise<void>;
  /**
   * Ends a session, and with it its disks. One that is not there any more is no error.
   * @throws VolumeError as `login`, and DeviceBusy
   */
  logout(session: ISCSISession): Promise<void>;
  /**
   * Looks again with each change of the node's block devices until something is found.
   * @returns undefined if nothing is in time
   */
  found<T>(look: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined>;
}

/** PURE. `[::1]:3260` */
export function portalText({ address, port }: ISCSIPortal): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

const defaultPort = 3260;

/** PURE. Of `host`, `host:port`, `[v6]` and `[v6]:port`. */
export function portalOf(text: string): ISCSIPortal {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { address: (bracketed ?? plain ?? text).toLowerCase(), port: port === undefined ? defaultPort : Number(port) };
}

/** PURE. */
export function samePortal(a: ISCSIPortal, b: ISCSIPortal): boolean {
  return a.address.toLowerCase() === b.address.toLowerCase() && a.port === b.port;
}
