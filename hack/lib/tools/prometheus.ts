// Prometheus, and its promtool, which evaluates rules on made-up series: what PATH has, else the Debian package,
// unpacked into the cache.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { LocateOptions } from "./cache.ts";
import { locateUnpacked } from "./unpacked.ts";

/** @returns the program's path */
export async function locatePrometheus(
  program: "prometheus" | "promtool",
  options: LocateOptions,
): Promise<string | { readonly missing: string }> {
  const folders = (options.env["PATH"] ?? "").split(delimiter);
  const installed = folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
  if (installed !== undefined) return installed;
  const has = `usr/bin/${program}`;
  const found = await locateUnpacked({ name: "prometheus", packages: ["prometheus"], has }, options);
  return typeof found === "string" ? join(found, has) : found;
}
