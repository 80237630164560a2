import { podDriver } from "../../api/names.ts";
import type { PluginInfo } from "../gen/pluginregistration.gen.ts";

/** What a plugin's introduction of itself comes to. */
export type Introduction =
  /** A plugin of another kind: kubelet's business. */
  | { readonly kind: "other"; readonly type: string }
  | { readonly kind: "refused"; readonly why: string }
  | {
      readonly kind: "driver";
      readonly name: string;
      /** As the node names it. */
      readonly endpoint: string;
      /** Of the same socket for this process. */
      readonly path: string;
    };

/** CSI, GetPluginInfo: a domain name, of 63 characters at most. */
const driverName = /^[a-zA-Z0-9]([-a-zA-Z0-9.]{0,61}[a-zA-Z0-9])?$/;
/** kubelet takes 0.x and 1.x for the version of the protocol, and speaks 1.x. */
const spokenVersion = /^v?1(\.\d+){0,2}$/;
/** unix(7): bytes of a path that an address has room for, without the zero at its end. */
const longestAddress = 107;
const scheme = "unix://";

/**
 * PURE. Whether a driver that registers itself can be taken (behaviour 115, csi_plugin.go ValidatePlugin).
 * @param socket where it registers, which is its endpoint if it names none
 * @param hostRoot where the node's root directory is for this process
 */
export function introductionOf(info: PluginInfo, socket: string, hostRoot: string): Introduction {
  const refused = (why: string) => ({ kind: "refused", why }) as const;
  if (info.type !== "CSIPlugin") return { kind: "other", type: info.type };
  if (!driverName.test(info.name)) return refused("its name is no domain name of at most 63 characters");
  if (info.name === podDriver) return refused("its name is that of this agent's own driver for pods");
  if (!info.supportedVersions.some((version) => spokenVersion.test(version))) {
    return refused(`it speaks version ${info.supportedVersions.join(", ") || "(none)"} of CSI, and 1.x is needed`);
  }
  const named = info.endpoint.startsWith(scheme) ? info.endpoint.slice(scheme.length) : info.endpoint;
  const endpoint = named || socket;
  if (!endpoint.startsWith("/")) return refused(`its endpoint ${endpoint} is not the absolute path of a unix socket`);
  if (endpoint.split("/").includes("..")) return refused(`its endpoint ${endpoint} has .. in it`);
  const path = named === "" || hostRoot === "/" ? endpoint : `${hostRoot}${endpoint}`;
  if (Buffer.byteLength(path) > longestAddress)
    return refused(`the path ${path} is longer than ${longestAddress} bytes`);
  return { kind: "driver", name: info.name, endpoint, path };
}
