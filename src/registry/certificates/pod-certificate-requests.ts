/** PodCertificateRequests, in which a kubelet asks for a certificate: for which pod, with which key, for how long. */
import { everything } from '../../patch/reset-fields.ts'
import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
  PodCertificateRequestStatus,
} from '../../api/certificates/v1beta1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import {
  forbiddenField,
  invalidOmitted,
  invalidValue,
  notSupported,
  notSupportedString,
  path,
  required,
  tooLong,
} from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { problems, validateQualifiedName } from '../../validation/field-rules.ts'
import { dns1123Subdomain } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { sameValue } from '../../validation/same-value.ts'
import { hasOwnSignature, readRequest } from '../../x509/certificate-request.ts'
import { fromBase64 } from '../../x509/pem.ts'
import { provesPossession, readPublicKey } from '../../x509/public-key.ts'
import type { PublicKey } from '../../x509/public-key.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { podCertificateRequestPrinter } from '../../codec/table/certificates.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { StrategyContext } from '../strategy.ts'
import { issuedErrors } from './pod-certificates.ts'
import { signerNameErrors } from './signer-name.ts'
import { uriProblem } from '../../x509/uri-names.ts'
import { errorsByName, errorsOf } from '../../validation/errors-of.ts'

type Request = PodCertificateRequest & KubeObject

const TYPE = 'io.k8s.api.certificates.v1beta1.PodCertificateRequest'
const MAX_UID_BYTES = 128
const MAX_KEY_BYTES = 10 * 1024
const MAX_ANNOTATION_BYTES = 256 * 1024
const HOUR = 60 * 60
const MIN_SECONDS = HOUR
const MAX_SECONDS = 91 * 24 * HOUR
/** The limit of Kubernetes' own signers. */
const MAX_SECONDS_OF_KUBERNETES = 24 * HOUR

const TERMINAL = ['Issued', 'Denied', 'Failed']

export const podCertificateRequests: BuiltInDefinition<Request> = {
  printer: podCertificateRequestPrinter,
  resetFields: { '': everything },
  allowUnconditionalUpdate: false,
  selectableFields: ({ spec: { signerName = '', podName = '', nodeName = '' } = {} }) => ({
    'spec.signerName': signerName,
    'spec.podName': podName,
    'spec.nodeName': nodeName,
  }),
  validate: ({ spec = {} }) => specErrors(spec, path('spec')),
  validateUpdate: ({ spec = {} }, { spec: old = {} }) =>
    sameValue(`${TYPE}Spec`, spec, old)
      ? []
      : [invalidValue(path('spec'), internalJson(`${TYPE}Spec`, spec), FIELD_IS_IMMUTABLE)],
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      async validateUpdate(request, old, context) {
        const errors = statusErrors(request, old, context.now)
        if (errors.length > 0 || sameValue(`${TYPE}Status`, request.status, old.status)) return errors
        return signerErrors(old.spec?.signerName ?? '', context)
      },
    },
  },
}

async function specErrors(spec: PodCertificateRequestSpec, at: FieldPath): Promise<FieldError[]> {
  const { signerName = '', unverifiedUserAnnotations: annotations, maxExpirationSeconds: seconds } = spec
  const names = [
    ...subjectErrors(spec, 'pod', at),
    ...subjectErrors(spec, 'serviceAccount', at),
    ...subjectErrors(spec, 'node', at),
  ]
  const errors = [
    ...signerNameErrors(signerName, at.child('signerName')),
    ...(annotations === undefined ? [] : annotationErrors(annotations, at.child('unverifiedUserAnnotations'))),
    ...names,
  ]
  if (seconds === undefined) return [...errors, required(at.child('maxExpirationSeconds'), 'must be set')]
  const max = isOfKubernetes(signerName) ? MAX_SECONDS_OF_KUBERNETES : MAX_SECONDS
  if (seconds < MIN_SECONDS || seconds > max)
    errors.push(
      invalidValue(at.child('maxExpirationSeconds'), seconds, `must be in the range [${MIN_SECONDS}, ${max}]`),
    )
  return [...errors, ...(await keyErrors(spec, at))]
}

function isOfKubernetes(signerName: string): boolean {
  const [host = ''] = signerName.split('/')
  return host === 'kubernetes.io' || host.endsWith('.kubernetes.io')
}

function subjectErrors(
  spec: PodCertificateRequestSpec,
  subject: 'pod' | 'serviceAccount' | 'node',
  at: FieldPath,
): FieldError[] {
  const name = spec[`${subject}Name`] ?? ''
  const uid = spec[`${subject}UID`] ?? ''
  const uidAt = at.child(`${subject}UID`)
  return [
    ...problems(at.child(`${subject}Name`), name, dns1123Subdomain(name)),
    ...(uid === '' ? [invalidValue(uidAt, uid, 'must not be empty')] : []),
    ...(byteLength(uid) > MAX_UID_BYTES ? [tooLong(uidAt, MAX_UID_BYTES)] : []),
  ]
}

/** Each key begins with the domain of the signer that defines it. */
function annotationErrors(annotations: Readonly<Record<string, string>>, at: FieldPath): FieldError[] {
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0)
  return [
    ...errorsByName(annotations, (key) => domainKeyErrors(key.toLowerCase(), at)),
    ...(size > MAX_ANNOTATION_BYTES ? [tooLong(at, MAX_ANNOTATION_BYTES)] : []),
  ]
}

function domainKeyErrors(key: string, at: FieldPath): FieldError[] {
  if (key === '') return [required(at)]
  const errors = validateQualifiedName(at, key)
  if (errors.length > 0 || key.includes('/')) return errors
  return [invalidValue(at, key, 'must be a domain-prefixed key (such as "acme.io/foo")')]
}

const HOW = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'

async function keyErrors(spec: PodCertificateRequestSpec, at: FieldPath): Promise<FieldError[]> {
  const { stubPKCS10Request: stub = '', pkixPublicKey: key = '', proofOfPossession: proof = '' } = spec
  if (stub !== '' && key === '' && proof === '') return stubErrors(fromBase64(stub), at.child('stubPKCS10Request'))
  if (stub === '' && key !== '' && proof !== '') return provenKeyErrors(spec, key, proof, at)
  return [invalidOmitted(at, HOW)]
}

const NO_REQUEST = 'must be a valid PKCS#10 CSR'

async function stubErrors(der: Uint8Array, at: FieldPath): Promise<FieldError[]> {
  if (der.length > MAX_KEY_BYTES) return [tooLong(at, MAX_KEY_BYTES)]
  const wrong = (why: string) => [invalidOmitted(at, why)]
  try {
    const request = readRequest(der)
    if (uriProblem(request.alternativeNames) !== undefined) return wrong(NO_REQUEST)
    const errors = kindErrors(readPublicKey(request.publicKey), at, 'P256, P384, or P521')
    if (errors.length > 0) return errors
    return (await hasOwnSignature(request)) ? [] : wrong('invalid signature')
  } catch {
    return wrong(NO_REQUEST)
  }
}

async function provenKeyErrors(
  spec: PodCertificateRequestSpec,
  key: string,
  proof: string,
  at: FieldPath,
): Promise<FieldError[]> {
  const [der, signature] = [fromBase64(key), fromBase64(proof)]
  const keyAt = at.child('pkixPublicKey')
  const proofAt = at.child('proofOfPossession')
  if (der.length > MAX_KEY_BYTES) return [tooLong(keyAt, MAX_KEY_BYTES)]
  if (signature.length > MAX_KEY_BYTES) return [tooLong(proofAt, MAX_KEY_BYTES)]
  let known: PublicKey
  try {
    known = readPublicKey(der)
  } catch {
    return [invalidValue(keyAt, key, 'must be a valid PKIX-serialized public key')]
  }
  const errors = kindErrors(known, keyAt, 'P256 or P384', key)
  if (errors.length > 0) return errors
  const proven = await provesPossession(der, new TextEncoder().encode(spec.podUID ?? ''), signature)
  return proven ? [] : [invalidOmitted(proofAt, 'could not verify proof-of-possession signature')]
}

/** @param shown the key as errors show it; undefined if errors leave it out */
function kindErrors(key: PublicKey, at: FieldPath, curves: string, shown?: string): FieldError[] {
  switch (key.kind) {
    case 'Ed25519':
      return []
    case 'EC':
      return ['P-256', 'P-384', 'P-521'].includes(key.curve ?? '')
        ? []
        : [invalidValue(at, `curve ${key.curve}`, `elliptic public keys must use curve ${curves}`)]
    case 'RSA':
      return key.modulusBits === 3072 || key.modulusBits === 4096
        ? []
        : [invalidValue(at, `${key.modulusBits}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096')]
    case 'other': {
      const why = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA'
      return [shown === undefined ? invalidOmitted(at, why) : invalidValue(at, shown, why)]
    }
  }
}

const has = (status: PodCertificateRequestStatus | undefined, ...types: string[]): boolean =>
  // few: types that callers write down
  (status?.conditions ?? []).some(({ type = '', status }) => types.includes(type) && status === 'True')

/** A request is issued, denied or failed once. Its status changes only in that write. */
function statusErrors({ spec, status = {} }: Request, { status: old = {} }: Request, now: Date): FieldError[] {
  const at = path('status')
  const conditions = conditionErrors(status, at.child('conditions'))
  if (conditions.length > 0) return conditions
  const must = (same: boolean, why: string) => (same ? [] : [invalidOmitted(at, why)])
  const isSame = sameValue(`${TYPE}Status`, status, old)
  if (has(old, ...TERMINAL)) return must(isSame, 'immutable after PodCertificateRequest is issued, denied, or failed')
  if (has(status, 'Denied', 'Failed'))
    return must(
      sameValue(`${TYPE}Status`, status, { conditions: status.conditions }),
      'non-condition status fields must be empty when denying or failing the PodCertificateRequest',
    )
  if (has(status, 'Issued')) return issuedErrors(spec ?? {}, status, now)
  return must(isSame, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"')
}

function conditionErrors({ conditions }: PodCertificateRequestStatus, at: FieldPath): FieldError[] {
  const list = conditions ?? []
  const first = list.findIndex(({ type = '' }) => TERMINAL.includes(type))
  const kinds = errorsOf(list, ({ type = '', status = '' }, index) => {
    // kube-apiserver writes the index as the name of a field
    const here = at.child(`[${index}]`)
    if (!TERMINAL.includes(type)) return [notSupportedString(here.child('type'), type, TERMINAL)]
    const many = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
    return [
      ...(index > first ? [invalidValue(here.child('type'), type, many)] : []),
      ...(status === 'True' ? [] : [notSupported(here.child('status'), status, ['True'])]),
    ]
  })
  return [...kinds, ...validateConditions(at, list)]
}

/** The user who changes the status needs permission to sign for the signer. */
async function signerErrors(signerName: string, context: StrategyContext): Promise<FieldError[]> {
  const { user } = context
  for (const name of [signerName, `${signerName.split('/')[0]}/*`]) {
    const signer = { apiGroup: 'certificates.k8s.io', apiVersion: '*', resource: 'signers', name }
    if ((await verdictOn(context, resourceAttributes(user, 'sign', signer))).allowed) return []
  }
  const why = `User ${goQuote(user.name)} is not permitted to "sign" for signer ${goQuote(signerName)}`
  return [forbiddenField(path('spec', 'signerName'), why)]
}
