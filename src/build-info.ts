import { Gauge, type Registry } from "prom-client";
import { revision, version } from "./version.ts";

/** Which version and commit run in which role, as Prometheus' own programs show it: a gauge that is always 1. */
export function registerBuildInfo(registry: Registry, role: "controller" | "agent"): void {
  const gauge = new Gauge({
    name: "nodevolume_build_info",
    help: "1, with the version of the program, the commit that it was built from, and its role.",
    labelNames: ["role", "version", "revision"],
    registers: [registry],
  });
  gauge.set({ role, version, revision }, 1);
}
