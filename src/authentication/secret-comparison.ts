/** Compares two secrets. The time does not depend on where they differ. */
export async function sameSecret(a: string, b: string): Promise<boolean> {
  const encoder = new TextEncoder()
  const [left, right] = await Promise.all([a, b].map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))))
  const [x, y] = [new Uint8Array(left!), new Uint8Array(right!)]
  let difference = 0
  for (let i = 0; i < x.length; i++) difference |= x[i]! ^ y[i]!
  return difference === 0
}
