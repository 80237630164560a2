const binary: { readonly [suffix: string]: bigint } = {
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
  Pi: 1024n ** 5n,
  Ei: 1024n ** 6n,
};
const decimal: { readonly [suffix: string]: number } = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/**
 * Bytes of a Kubernetes quantity (apimachinery's resource.Quantity), rounded up.
 * @throws RangeError if it is none; the API server refuses such objects
 */
export function quantityBytes(quantity: number | string): bigint {
  return quantityRatio(quantity, "1");
}

/** A quantity in units of another that is positive, rounded up. @throws RangeError if one is no quantity */
export function quantityRatio(quantity: number | string, unit: string): bigint {
  const [a, b] = [parsed(quantity), parsed(unit)];
  const exponent = a.exponent - b.exponent;
  const dividend = a.digits * 10n ** BigInt(Math.max(exponent, 0));
  const divisor = b.digits * 10n ** BigInt(Math.max(-exponent, 0));
  return dividend < 0n ? -((-dividend + divisor - 1n) / divisor) : (dividend + divisor - 1n) / divisor;
}

/** digits * 10 ** exponent */
function parsed(quantity: number | string): { readonly digits: bigint; readonly exponent: number } {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|[eE]([+-]?\d{1,3})|([numkMGTPE]?))$/.exec(String(quantity));
  const digits = match === null ? "" : `${match[2]}${match[3] ?? ""}`;
  if (match === null || digits === "") throw new RangeError(`not a quantity: ${quantity}`);
  const sign = match[1] === "-" ? -1n : 1n;
  const fraction = (match[3] ?? "").length;
  const factor = match[4] === undefined ? 1n : (binary[match[4]] ?? 1n);
  const exponent = (match[5] === undefined ? (decimal[match[6] ?? ""] ?? 0) : Number(match[5])) - fraction;
  return { digits: sign * BigInt(digits) * factor, exponent };
}
