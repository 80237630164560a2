import {
  PluginCapability_VolumeExpansion_Type as Expansion,
  PluginCapability_Service_Type as Service,
} from "../../../src/csi/gen/csi.gen.ts";
import type { Handlers } from "../lib/serve.ts";
import type { Flags } from "./flags.ts";

export function identity({ name }: Flags): Handlers {
  return {
    getPluginInfo: () => ({ name, vendorVersion: "1.0.0", manifest: new Map() }),
    getPluginCapabilities: () => ({
      capabilities: [
        { service: { type: Service.CONTROLLER_SERVICE } },
        { volumeExpansion: { type: Expansion.ONLINE } },
      ],
    }),
    probe: () => ({ ready: true }),
  };
}
