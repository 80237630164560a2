// Registers a CSI driver with who watches the plugin registration directory, as node-driver-registrar does, which is
// not to be had as a module: pluginregistration v1 on a socket of its own.
//   node test/drivers/registrar/main.ts --csi-address SOCKET --socket FOLDER/NAME-reg.sock [--name NAME]
import { parseArgs } from "node:util";
import { credentials, Server } from "@grpc/grpc-js";
import { type GetPluginInfoResponse, IdentityClient } from "../../../src/csi/gen/csi.gen.ts";
import { RegistrationService, type RegistrationStatus } from "../../../src/csi/gen/pluginregistration.gen.ts";
import { faultsFrom } from "../lib/faults.ts";
import { recordTo } from "../lib/record.ts";
import { addService, listen } from "../lib/serve.ts";

const string = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    "csi-address": string,
    socket: string,
    /** What it says instead of the driver's own name: a lie. */
    name: string,
    versions: { ...string, default: "1.0.0" },
    record: { ...string, default: "/dev/null" },
    control: string,
  },
});
const endpoint = values["csi-address"] ?? "";
const name = values.name ?? (await nameOf(endpoint));
const trace = { recorder: recordTo(values.record, "registrar"), faults: faultsFrom(values.control, "registrar") };
const server = new Server();
addService(
  server,
  RegistrationService,
  {
    getInfo: () => ({ type: "CSIPlugin", name, endpoint, supportedVersions: values.versions.split(",") }),
    notifyRegistrationStatus({ pluginRegistered, error }: RegistrationStatus) {
      console.log(`registered: ${pluginRegistered}${error === "" ? "" : `: ${error}`}`);
      // As the real one: it ends, and is started again.
      if (!pluginRegistered) setImmediate(() => process.exit(1));
      return {};
    },
  },
  trace,
);
await listen(server, values.socket ?? "");
console.log(`${name} at ${endpoint} can be registered on ${values.socket}`);
process.on("SIGTERM", () => {
  server.forceShutdown();
  process.exit(0);
});

/** Waits for the driver, as long as it takes. */
function nameOf(address: string): Promise<string> {
  const client = new IdentityClient(`unix:${address}`, credentials.createInsecure());
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + 60_000, (late) => {
      if (late !== undefined) return reject(late);
      client.getPluginInfo({}, (error: Error | null, info: GetPluginInfoResponse) => {
        client.close();
        if (error === null) resolve(info.name);
        else reject(error);
      });
    });
  });
}
