import { extensionValue } from './certificate.ts'
import { contextTag, elements, readElement, TAG } from './der.ts'
import { readSigned } from './signature.ts'

const BASIC_CONSTRAINTS = '2.5.29.19'

/**
 * Whether a certificate says that it may sign others (RFC 5280, 4.2.1.9).
 * @throws RangeError, TypeError where it is no certificate
 */
export function isAuthority(der: Uint8Array): boolean {
  const fields = elements(readSigned(der).content)
  const extensions = fields.find(({ tag }) => tag === contextTag(3))
  const constraints = extensions && extensionValue(elements(extensions.content)[0]!, BASIC_CONSTRAINTS)
  if (constraints === undefined) return false
  const [flag] = elements(readElement(constraints).content)
  return flag?.tag === TAG.boolean && flag.content[0] === 0xff
}
