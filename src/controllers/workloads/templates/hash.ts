/** The hash of a template in names and labels, as kube-controller-manager computes it. */
import type { PodTemplateSpec } from '../../../api/core/v1.ts'
import { goDump } from './dump.ts'

/** The 32-bit FNV-1a of the template's Go dump and of the collision count. */
export async function templateHash(template: PodTemplateSpec, collisionCount: number | undefined): Promise<string> {
  let hash = fnv32(0x811c9dc5, new TextEncoder().encode(await goDump(template)))
  if (collisionCount !== undefined) hash = fnv32(hash, littleEndian(collisionCount))
  return safeText(String(hash))
}

/**
 * The hash of a StatefulSet's revision: the 32-bit FNV-1 of its patch and of the collision count.
 * @param patch JSON text
 */
export function revisionHash(patch: string, collisionCount: number): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(`${patch}${collisionCount}`)) hash = Math.imul(hash, 0x01000193) ^ byte
  return safeText(String(hash >>> 0))
}

function fnv32(start: number, bytes: Uint8Array): number {
  let hash = start
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** Eight bytes in little-endian order. A 32-bit count fills four of them. */
function littleEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

/** No vowels and no digits that look like vowels, so that a hash is no word by chance. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

export const safeText = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')
