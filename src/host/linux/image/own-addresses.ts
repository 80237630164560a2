import { BlockList, isIPv6 } from "node:net";

const own = new BlockList();
own.addSubnet("127.0.0.0", 8);
own.addSubnet("0.0.0.0", 8);
own.addSubnet("169.254.0.0", 16);
own.addAddress("::1", "ipv6");
own.addAddress("::", "ipv6");
own.addSubnet("fe80::", 10, "ipv6");
// The same by NAT64 (RFC 6052).
own.addSubnet("64:ff9b::7f00:0", 104, "ipv6");
own.addSubnet("64:ff9b::", 104, "ipv6");
own.addSubnet("64:ff9b::a9fe:0", 112, "ipv6");

/** Whether an address is the machine itself, or of its link alone, where what serves metadata trusts it. */
export function isOwnAddress(address: string): boolean {
  return own.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
