import type { ProgramResult } from "../../host/ports/programs.ts";

/** What a driver can do, by its answer to init; by default all but metrics (kubelet: defaultCapabilities). */
export interface FlexCapabilities {
  readonly attach: boolean;
  readonly fsGroup: boolean;
  readonly selinuxRelabel: boolean;
  readonly supportsMetrics: boolean;
  readonly requiresFSResize: boolean;
}

/** The answer of a flexvolume driver that succeeded. Fields that it leaves out are "" or false. */
export interface FlexStatus {
  /** Where the device is (attach, waitforattach); "" if it does not say. */
  readonly device: string;
  /** What the driver calls the volume (getvolumename). */
  readonly volumeName: string;
  readonly attached: boolean;
  readonly capabilities: FlexCapabilities;
}

/** The answer of a flexvolume driver, by its field `status`. */
export type FlexReply =
  | { readonly kind: "success"; readonly status: FlexStatus }
  | { readonly kind: "notSupported" }
  /** The driver refused, in its own words. */
  | { readonly kind: "failure"; readonly message: string }
  /** It is no answer of the contract. */
  | { readonly kind: "invalid"; readonly message: string };

const byDefault: FlexCapabilities = {
  attach: true,
  fsGroup: true,
  selinuxRelabel: true,
  supportsMetrics: false,
  requiresFSResize: true,
};

/**
 * PURE. The reply of a driver: one JSON object, whose keys may be in any case, as Go reads it. If standard output is
 * empty, standard error is used, as kubelet reads both. The message is complete: secrets are still to be redacted.
 * (kubelet: pkg/volume/flexvolume/driver-call.go)
 */
export function replyOf({ code, stdout, stderr }: ProgramResult): FlexReply {
  const members = membersOf(stdout.trim() === "" ? stderr : stdout);
  const said = `exit ${code}: ${stderr.trim() || stdout.trim()}`;
  if (members === undefined) return { kind: "invalid", message: `it did not answer with a JSON object (${said})` };
  const status = textOf(members, "status");
  const message = textOf(members, "message");
  if (status === "Not supported") return { kind: "notSupported" };
  if (status === undefined) return { kind: "invalid", message: `its answer has no status (${said})` };
  if (status !== "Success") return { kind: "failure", message: message || `${status} (${said})` };
  if (code !== 0) return { kind: "invalid", message: `it answered Success and ended with an error (${said})` };
  const capabilities = capabilitiesOf(members.get("capabilities"));
  if (capabilities === undefined)
    return { kind: "invalid", message: "its capabilities are not an object of true and false" };
  return {
    kind: "success",
    status: {
      device: textOf(members, "device") ?? "",
      volumeName: textOf(members, "volumename") ?? "",
      attached: members.get("attached") === true,
      capabilities,
    },
  };
}

function capabilitiesOf(value: unknown): FlexCapabilities | undefined {
  if (value === undefined || value === null) return byDefault;
  const members = lowerCased(value);
  if (members === undefined) return undefined;
  const entries = Object.entries(byDefault).map(([name, otherwise]) => [
    name,
    members.get(name.toLowerCase()) ?? otherwise,
  ]);
  if (entries.some(([, can]) => typeof can !== "boolean")) return undefined;
  return Object.fromEntries(entries) as FlexCapabilities;
}

function membersOf(text: string): ReadonlyMap<string, unknown> | undefined {
  try {
    return lowerCased(JSON.parse(text));
  } catch {
    return undefined; // no JSON: said by the caller, with the text
  }
}

function lowerCased(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
}

function textOf(members: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = members.get(name);
  return typeof value === "string" ? value : undefined;
}
