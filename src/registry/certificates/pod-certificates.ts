/** Validates an issued certificate against its request. */
import type { PodCertificateRequestSpec, PodCertificateRequestStatus } from '../../api/certificates/v1beta1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required, tooLong } from '../../api/field.ts'
import { byteLength } from '../../base/utf8.ts'
import type { Certificate } from '../../x509/certificate.ts'
import { readCertificate } from '../../x509/certificate.ts'
import type { AlternativeNames } from '../../x509/certificate-request.ts'
import { ALTERNATIVE_NAME, readAlternativeNames, readRequest } from '../../x509/certificate-request.ts'
import type { PemBlock } from '../../x509/pem.ts'
import { fromBase64, pemBlocks, toBase64 } from '../../x509/pem.ts'
import { uriProblem } from '../../x509/uri-names.ts'

const MAX_CHAIN_BYTES = 100 * 1024
const MINUTE = 60 * 1000
const HOUR = 60 * MINUTE
const CLOCK_SKEW = 5 * MINUTE
const REFRESH_DISTANCE = 10 * MINUTE

const chainAt = path('status', 'certificateChain')
const BLOCKS_ONLY = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'

/** Returns the first error, after those of the leaf's names. */
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
  const names = leaf && nameErrors(leaf)
  if (leaf === undefined || names === undefined) return wrong('leaf certificate does not parse as valid X.509')
  if (toBase64(leaf.publicKey) !== requestedKey(spec))
    return [...names, ...wrong('leaf certificate was not issued to the requested public key')]
  const errors = [...names, ...missingTimes(status)]
  if (errors.length > 0) return errors
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

const ATOMS = "[\\w!#$%&'*+/=?^`{|}~-]+(?:\\.[\\w!#$%&'*+/=?^`{|}~-]+)*"
const ADDRESS = `(?:${ATOMS}|"(?:[^"\\\\]|\\\\.)*")@(?:${ATOMS}|\\[[^\\[\\]]*\\])`
/** RFC 5322 §3.4, without comments and groups. */
const isAddress = new RegExp(`^(?:${ADDRESS}|[^<>@,]*<${ADDRESS}>)$`)

/** Errors of the leaf's alternative names; undefined where these cannot be read. */
function nameErrors({ extensions }: Certificate): FieldError[] | undefined {
  const value = extensions.find(({ type }) => type === ALTERNATIVE_NAME)?.value
  if (value === undefined) return []
  let names: AlternativeNames
  try {
    names = readAlternativeNames(value)
  } catch {
    return undefined
  }
  if (uriProblem(names) !== undefined) return undefined
  const wrong = (name: string, why: string) => invalidValue(chainAt, name, `leaf certificate${why}`)
  return [
    // few: a chain has 100 KiB at most
    ...names.dnsNames.flatMap((name) => [
      ...(name === '' ? [wrong(name, ' should not contain empty DNSName')] : []),
      ...(name.includes('..') ? [wrong(name, "'s DNSName should not contain '..'")] : []),
      ...(/^\.|\.$/.test(name) ? [wrong(name, "'s DNSName should not start or end with '.'")] : []),
    ]),
    ...names.emails
      .filter((name) => !isAddress.test(name))
      .map((name) => wrong(name, ' should not contain invalid EmailAddress')),
  ]
}

/** The requested SubjectPublicKeyInfo in base64. */
const requestedKey = ({ stubPKCS10Request: stub, pkixPublicKey }: PodCertificateRequestSpec): string =>
  toBase64(stub ? readRequest(fromBase64(stub)).publicKey : fromBase64(pkixPublicKey ?? ''))

const timeAt = (field: string) => path('status', field)

function missingTimes({ notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus): FieldError[] {
  const CONSISTENT = 'must be present and consistent with the issued certificate'
  return [
    ...(notBefore === undefined ? [required(timeAt('notBefore'), CONSISTENT)] : []),
    ...(notAfter === undefined ? [required(timeAt('notAfter'), CONSISTENT)] : []),
    ...(beginRefreshAt === undefined
      ? [required(timeAt('beginRefreshAt'), 'must be present and in the range [notbefore+10min, notafter-10min]')]
      : []),
  ]
}

/** The times are there. */
function timeErrors(
  { maxExpirationSeconds = 0 }: PodCertificateRequestSpec,
  { notBefore = '', notAfter = '', beginRefreshAt = '' }: PodCertificateRequestStatus,
  leaf: Certificate,
  now: Date,
): FieldError[] {
  const [begin, end, refresh] = [notBefore, notAfter, beginRefreshAt].map((text) => Date.parse(text)) as [
    number,
    number,
    number,
  ]
  const lifetime = leaf.notAfter - leaf.notBefore
  const wrong = (field: string, time: string, why: string) => [invalidValue(timeAt(field), time, why)]
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
