// A CSI driver for tests: volumes are files, devices are loop devices, file systems are xfs, made and grown for real.
//   node test/drivers/loop-xfs/main.ts --endpoint SOCKET --node-id ID --data FOLDER …
// It keeps nothing in memory: killed at any moment, its next process finds everything in the folder and in the kernel.
import { Server } from "@grpc/grpc-js";
import { ControllerService } from "../../../hack/lib/csi/gen/csi.gen.ts";
import { IdentityService, NodeService } from "../../../src/csi/gen/csi.gen.ts";
import { faultsFrom } from "../lib/faults.ts";
import { recordTo } from "../lib/record.ts";
import { addService, listen } from "../lib/serve.ts";
import { controller } from "./controller.ts";
import { Devices } from "./devices.ts";
import { flagsOf } from "./flags.ts";
import { identity } from "./identity.ts";
import { node } from "./node.ts";
import { Storage } from "./storage.ts";

const flags = flagsOf(process.argv.slice(2));
const storage = new Storage(flags.data);
const devices = new Devices();
storage.addNode(flags.nodeID);
const trace = { recorder: recordTo(storage.recordFile, flags.nodeID), faults: faultsFrom(flags.control, flags.nodeID) };
const server = new Server({ "grpc.max_receive_message_length": 16 * 1024 * 1024 });
addService(server, IdentityService, identity(flags), trace);
addService(server, ControllerService, controller(storage, devices, flags), trace);
addService(server, NodeService, node(storage, devices, flags), trace);
await listen(server, flags.endpoint);
console.log(`${flags.name} of ${flags.nodeID} listens on ${flags.endpoint}`);
process.on("SIGTERM", () => {
  server.forceShutdown();
  process.exit(0);
});
