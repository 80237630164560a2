import { printable } from "../../../../api/values/printable.ts";
import { corruptLayer } from "../corrupt-layer.ts";

/** PURE. Fields of headers of tar and values of pax. What is not as it should be is thrown as ContentRefused. */

/** A number: octal digits up to a space or NUL, or, with the highest bit, base 256 in two's complement (GNU, star). */
export function numberIn(header: Buffer, at: number, length: number): bigint {
  const field = header.subarray(at, at + length);
  if (((field[0] ?? 0) & 0x80) !== 0) return BigInt.asIntN(8 * length - 1, BigInt(`0x${field.toString("hex")}`));
  const [, digits] = /^[ \0]*([0-7]*)(?:[ \0].*)?$/s.exec(field.toString("latin1")) ?? [];
  if (digits === undefined) throw corruptLayer("has a number that cannot be read");
  return digits === "" ? 0n : BigInt(`0o${digits}`);
}

/** A whole number of pax, in decimal digits. */
export function whole(text: string): bigint {
  if (!/^-?[0-9]{1,32}$/.test(text)) throw corruptLayer("has a number that cannot be read");
  return BigInt(text);
}

/** From 0 on. */
export function inRange(value: bigint, most: number, what: string): number {
  if (value >= 0n && value <= BigInt(most)) return Number(value);
  throw corruptLayer(`has a number that is out of range (${what} ${value})`);
}

const second = 1_000_000_000n;
/** What the kernel takes for seconds. Of these a file system keeps what it can. */
const seconds = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** A time of pax, in seconds with or without a fraction. @returns nanoseconds since 1970 */
export function timeOf(text: string): bigint {
  const [, sign, digits, fraction = ""] = /^(-?)([0-9]{1,32})(?:\.([0-9]*))?$/.exec(text) ?? [];
  if (digits === undefined) throw corruptLayer("has a time that cannot be read");
  const nanoseconds = nanosecondsOf(BigInt(digits)) + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
  return sign === "-" ? -nanoseconds : nanoseconds;
}

/**
 * PURE. A time of an archive in nanoseconds since the epoch.
 * @throws VolumeError ContentRefused if it is out of range
 */
export function nanosecondsOf(time: bigint): bigint {
  if (time >= seconds.least && time <= seconds.most) return time * second;
  throw corruptLayer("has a time that is out of range");
}

/** Text up to the first NUL. */
export function textIn(bytes: Buffer, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return utf8(end === -1 ? field : field.subarray(0, end));
}

/**
 * PURE. A name of an archive as text.
 * @throws VolumeError ContentRefused if it is not UTF-8
 */
export function utf8(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  throw corruptLayer(`has a name that is not UTF-8: ${printable(text).slice(0, 128)}`);
}
