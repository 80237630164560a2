import type { FlexVolumeSource } from "../../api/types.gen.ts";

/** The option with the volume's name; with kubelet, that of the PersistentVolume, or of the volume in its pod. */
const nameOption = "kubernetes.io/pvOrVolumeName";

/** PURE. What the volume is called to its driver: by an option of the source, if there is one, or a name of ours. */
export function volumeNameOf({ options = {} }: FlexVolumeSource, key: string): string {
  return options[nameOption] ?? `nodevolume-${key}`;
}

/**
 * PURE. The options of a call as JSON: kubelet's own, then those of the Secret, and over them those of the source. What
 * kubelet says of a pod (kubernetes.io/pod.…) is not among them: the volume is the node's. (kubelet:
 * NewOptionsForDriver, addSecretsToOptions)
 */
export function optionsJson(
  source: FlexVolumeSource,
  key: string,
  secrets: ReadonlyMap<string, string> = new Map(),
): string {
  const { fsType = "", readOnly = false, options = {} } = source;
  const given = [...secrets].map(([name, value]) => [`kubernetes.io/secret/${name}`, base64(value)]);
  return JSON.stringify({
    "kubernetes.io/fsType": fsType,
    "kubernetes.io/readwrite": readOnly ? "ro" : "rw",
    [nameOption]: volumeNameOf(source, key),
    ...Object.fromEntries(given),
    ...options,
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
