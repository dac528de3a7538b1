/** The hash of a template in names and labels, as kube-controller-manager computes it. */
import type { PodTemplateSpec } from '../../api/core/v1.ts'
import { goDump } from './template-dump.ts'

/** FNV-1a of 32 bits: of the template as Go dumps it, and of how often the name was taken. */
export async function templateHash(template: PodTemplateSpec, collisionCount: number | undefined): Promise<string> {
  let hash = fnv32(0x811c9dc5, new TextEncoder().encode(await goDump(template)))
  if (collisionCount !== undefined) hash = fnv32(hash, littleEndian(collisionCount))
  return safeText(String(hash))
}

/**
 * Of a StatefulSet's revision: FNV-1 of 32 bits, of its patch and of how often the name was taken.
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

/** Eight bytes, of which a count of 32 bits fills four. */
function littleEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

/** Without vowels and digits that look like them: no words come out by chance. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

export const safeText = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')
