import { expect } from "chai";
import { Registry } from "prom-client";
import { noDrivers } from "../../../../hack/lib/no-drivers.ts";
import { meteredDialer } from "../../../../src/agent/drivers/metered-dialer.ts";
import { callMetrics } from "../../../../src/agent/drivers/start-drivers.ts";
import type { Answer, Connection } from "../../../../src/csi/client/connection.ts";
import type { RegisteredDriver } from "../../../../src/csi/ports.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const node = "/csi.v1.Node/NodeStageVolume";

describe("csi_operations_seconds", () => {
  const answers: readonly (readonly [Answer, string])[] = [
    [{ kind: "reply", bytes: new Uint8Array() }, "OK"],
    [{ kind: "status", code: "DEADLINE_EXCEEDED", text: "", spoken: false }, "DEADLINE_EXCEEDED"],
    [{ kind: "status", code: undefined, text: "", spoken: true }, "UNKNOWN"],
    [{ kind: "unsent" }, "UNAVAILABLE"],
  ];
  for (const [answer, code] of answers) {
    it(`has the driver's name, the method, and ${code} for ${answer.kind}`, async () => {
      const system = virtualSystem();
      const registry = new Registry();
      const driver = { name: "a.example", endpoint: "/a.sock" } as RegisteredDriver;
      const drivers = { ...noDrivers, names: () => ["a.example"], driver: () => driver };
      const connection = { call: async () => answer } as unknown as Connection;
      const onCall = callMetrics(registry, "/host", () => drivers);
      const dialed = meteredDialer({ dial: () => connection }, system.clock, onCall);
      expect(await dialed.dial("/host/a.sock").call(node, new Uint8Array(), 1)).to.equal(answer);
      await dialed.dial("/b.sock").call(node, new Uint8Array(), 1);
      await dialed.dial("/host/a.sock").call("/csi.v1.Identity/GetPluginInfo", new Uint8Array(), 1);
      const text = await registry.metrics();
      const line = (name: string) =>
        `csi_operations_seconds_count{driver_name="${name}",method_name="${node}",grpc_status_code="${code}"} 1`;
      expect(text).to.include(line("a.example"));
      expect(text).to.include(line("unknown-driver"));
      expect(text).not.to.include("Identity");
    });
  }
});
