import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/**
 * PURE. VolumeCondition in the bytes of a NodeGetVolumeStatsResponse: field 2, {abnormal = 1, message = 2}, as
 * specifications 1.3 to 1.12 have it. 1.13 has taken it out of the message for NodeGetVolumeHealth, which drivers do
 * not have yet; those with VOLUME_CONDITION still send it, and kubelet shows it.
 * @throws Error if it is no message
 */
export function conditionIn(bytes: Uint8Array): { abnormal: boolean; message: string } | undefined {
  let condition: { abnormal: boolean; message: string } | undefined;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2 && type === WireType.LengthDelimited) condition = decode(reader.bytes());
    else reader.skip(type, field);
  }
  return condition;
}

function decode(bytes: Uint8Array): { abnormal: boolean; message: string } {
  const condition = { abnormal: false, message: "" };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === WireType.Varint) condition.abnormal = reader.bool();
    else if (field === 2 && type === WireType.LengthDelimited) condition.message = reader.string();
    else reader.skip(type, field);
  }
  return condition;
}
