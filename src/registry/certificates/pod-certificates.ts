/** Validates an issued certificate against its request. */
import type { PodCertificateRequestSpec, PodCertificateRequestStatus } from '../../api/certificates/v1beta1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required, tooLong } from '../../api/field.ts'
import { byteLength } from '../../api/utf8.ts'
import type { Certificate } from '../../x509/certificate.ts'
import { readCertificate } from '../../x509/certificate.ts'
import { readRequest } from '../../x509/certificate-request.ts'
import type { PemBlock } from '../../x509/pem.ts'
import { fromBase64, pemBlocks, toBase64 } from '../../x509/pem.ts'

const MAX_CHAIN_BYTES = 100 * 1024
const MINUTE = 60 * 1000
const HOUR = 60 * MINUTE
const CLOCK_SKEW = 5 * MINUTE
const REFRESH_DISTANCE = 10 * MINUTE

const chainAt = path('status', 'certificateChain')
const BLOCKS_ONLY = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'

/** Returns the first error only. */
export function issuedErrors(
  spec: PodCertificateRequestSpec,
  status: PodCertificateRequestStatus,
  now: Date,
): FieldError[] {
  const { certificateChain: chain = '' } = status
  if (byteLength(chain) > MAX_CHAIN_BYTES) return [tooLong(chainAt, MAX_CHAIN_BYTES)]
  const wrong = (why: string) => [invalidValue(chainAt, chain, why)]
  const [first, ...rest] = pemBlocks(chain)
  if (first === undefined) return wrong('issued certificate chain must contain at least one certificate')
  if (first.type !== 'CERTIFICATE') return wrong(BLOCKS_ONLY)
  const leaf = certificateOf(first)
  if (leaf === undefined) return wrong('leaf certificate does not parse as valid X.509')
  if (toBase64(leaf.publicKey) !== requestedKey(spec))
    return wrong('leaf certificate was not issued to the requested public key')
  const times = timeErrors(spec, status, leaf, now)
  if (times.length > 0) return times
  for (const block of rest) {
    if (block.type !== 'CERTIFICATE') return wrong(BLOCKS_ONLY.replace('CERTIFICATE', 'CERTFICATE')) // sic
    if (certificateOf(block) === undefined) return wrong('intermediate certificate does not parse as valid X.509')
  }
  return []
}

function certificateOf({ bytes }: PemBlock): Certificate | undefined {
  try {
    return readCertificate(bytes)
  } catch {
    return undefined
  }
}

/** The requested SubjectPublicKeyInfo in base64. */
const requestedKey = ({ stubPKCS10Request: stub, pkixPublicKey }: PodCertificateRequestSpec): string =>
  toBase64(stub ? readRequest(fromBase64(stub)).publicKey : fromBase64(pkixPublicKey ?? ''))

function timeErrors(
  { maxExpirationSeconds = 0 }: PodCertificateRequestSpec,
  { notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus,
  leaf: Certificate,
  now: Date,
): FieldError[] {
  const at = (field: string) => path('status', field)
  const CONSISTENT = 'must be present and consistent with the issued certificate'
  if (notBefore === undefined || notAfter === undefined || beginRefreshAt === undefined)
    return [
      ...(notBefore === undefined ? [required(at('notBefore'), CONSISTENT)] : []),
      ...(notAfter === undefined ? [required(at('notAfter'), CONSISTENT)] : []),
      ...(beginRefreshAt === undefined
        ? [required(at('beginRefreshAt'), 'must be present and in the range [notbefore+10min, notafter-10min]')]
        : []),
    ]
  const [begin, end, refresh] = [notBefore, notAfter, beginRefreshAt].map((text) => Date.parse(text)) as [
    number,
    number,
    number,
  ]
  const lifetime = leaf.notAfter - leaf.notBefore
  const wrong = (field: string, time: string, why: string) => [invalidValue(at(field), time, why)]
  if (begin !== leaf.notBefore)
    return wrong('notBefore', notBefore, 'must be set to the NotBefore time encoded in the leaf certificate')
  if (Math.abs(begin - now.getTime()) > CLOCK_SKEW)
    return wrong('notBefore', notBefore, "must be set to within 5 minutes of kube-apiserver's current time")
  if (end !== leaf.notAfter)
    return wrong('notAfter', notAfter, 'must be set to the NotAfter time encoded in the leaf certificate')
  if (lifetime < HOUR) return [invalidValue(chainAt, lifetime * 1e6, 'leaf certificate lifetime must be >= 1 hour')]
  if (lifetime > maxExpirationSeconds * 1000)
    return [
      invalidValue(
        chainAt,
        lifetime * 1e6,
        `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxExpirationSeconds})`,
      ),
    ]
  if (refresh < begin + REFRESH_DISTANCE)
    return wrong('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes after status.notBefore')
  if (refresh > end - REFRESH_DISTANCE)
    return wrong('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes before status.notAfter')
  return []
}
