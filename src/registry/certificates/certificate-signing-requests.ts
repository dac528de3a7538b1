/** CertificateSigningRequests. The spec never changes. Approval and certificate have subresources of their own. */
import { kept } from '../../base/parts.ts'
import { without } from '../../patch/reset-fields.ts'
import { append } from '../../base/append.ts'
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition as Condition,
  CertificateSigningRequestSpec,
} from '../../api/certificates/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { stringifySorted } from '../../json/write-json.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { timeText } from '../../schema/time.ts'
import { BadRequestText, hasOwnSignature, parseCertificateRequest } from '../../x509/certificate-request.ts'
import { fromBase64, pemBlocks } from '../../x509/pem.ts'
import { readCertificate } from '../../x509/certificate.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import type { NameRule } from '../../validation/names.ts'
import { certificateSigningRequestPrinter } from '../../codec/table/certificates.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { UpdateStrategy } from '../strategy.ts'
import { signerNameErrors } from './signer-name.ts'
import { uriProblem } from '../../x509/uri-names.ts'
import { work } from '../work/work.ts'
import { errorsOf } from '../../validation/errors-of.ts'

type Request = CertificateSigningRequest & KubeObject

/** A name must only fit into a path. Validation of the metadata checks this. */
const anyName: NameRule = () => []

export const certificateSigningRequests: BuiltInDefinition<Request> = {
  withoutTable: ['approval'],
  printer: certificateSigningRequestPrinter,
  work: ({ object }) => work('certificate-request', object?.metadata.name),
  resetFields: {
    '': without(['spec'], ['status']),
    status: without(['spec'], ['status', 'conditions']),
    approval: without(['spec'], ['status', 'certificate']),
  },
  nameRule: anyName,
  prepareForCreate(request, { user }) {
    request.spec = { ...request.spec, ...requester(user) }
    for (const field of ['uid', 'groups', 'extra'] as const)
      if (requester(user)[field] === undefined) delete request.spec[field]
    request.status = {}
  },
  validate: (request) => requestErrors(request, undefined),
  selectableFields: ({ spec }) => ({ 'spec.signerName': spec?.signerName ?? '' }),
  prepareForUpdate(request, old) {
    request.spec = old.spec
    request.status = old.status
  },
  metadataOnUpdate: 'by strategy',
  validateUpdate: updateErrors({ approval: false, certificate: false }),
  subresources: {
    status: {
      prepareForUpdate(request, old, { now }) {
        request.spec = old.spec
        for (const type of ['Approved', 'Denied']) keepConditions(request, old, type)
        fillTimes(request, old, now)
      },
      metadataOnUpdate: 'by strategy',
      validateUpdate: updateErrors({ approval: false, certificate: true }),
    },
    approval: {
      prepareForUpdate(request, old, { now }) {
        fillTimes(request, old, now)
        const { conditions } = request.status ?? {}
        request.spec = old.spec
        request.status = { ...old.status, ...(conditions === undefined ? {} : { conditions }) }
        if (conditions === undefined) delete request.status.conditions
      },
      metadataOnUpdate: 'by strategy',
      validateUpdate: updateErrors({ approval: true, certificate: false }),
    },
  },
}

/** The server sets the user who makes the request, whatever the client sends. */
function requester({ name, uid, groups, extra }: UserInfo): CertificateSigningRequestSpec {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  }
}

const conditionsOf = ({ status }: CertificateSigningRequest, type?: string): Condition[] =>
  (status?.conditions ?? []).filter((condition) => type === undefined || condition.type === type)

/** Restores the stored conditions of the type, unless their number changed. */
function keepConditions(request: Request, old: Request, type: string): void {
  const before = conditionsOf(old, type).toReversed()
  if (conditionsOf(request, type).length !== before.length || request.status?.conditions === undefined) return
  request.status.conditions = request.status.conditions.map((condition) =>
    condition.type === type ? before.pop()! : condition,
  )
}

function fillTimes(request: Request, old: Request, now: Date): void {
  for (const condition of conditionsOf(request)) {
    condition.lastUpdateTime ??= timeText(now)
    condition.lastTransitionTime ??=
      conditionsOf(old, condition.type).find(
        ({ status, lastTransitionTime }) => status === condition.status && lastTransitionTime !== undefined,
      )?.lastTransitionTime ?? timeText(now)
  }
}

interface Allowed {
  readonly approval: boolean
  readonly certificate: boolean
}

const CONDITIONS = path('status', 'conditions')
const CERTIFICATE = path('status', 'certificate')

function updateErrors(allowed: Allowed): NonNullable<UpdateStrategy<Request>['validateUpdate']> {
  return async (request, old) => {
    const errors = await requestErrors(request, old)
    const count = (one: Request, type: string): number => conditionsOf(one, type).length
    for (const type of ['Approved', 'Denied', 'Failed'])
      if (count(request, type) < count(old, type))
        errors.push(forbiddenField(CONDITIONS, `updates may not remove a condition of type "${type}"`))
    if (!allowed.approval)
      for (const type of ['Approved', 'Denied']) {
        if (count(request, type) > count(old, type))
          errors.push(forbiddenField(CONDITIONS, `updates may not add a condition of type "${type}"`))
        else if (count(request, type) === count(old, type) && !sameConditions(request, old, type))
          errors.push(forbiddenField(CONDITIONS, `updates may not modify a condition of type "${type}"`))
      }
    const [now = '', before = ''] = [request.status?.certificate, old.status?.certificate]
    if (now !== before) {
      if (!allowed.certificate) errors.push(forbiddenField(CERTIFICATE, 'updates may not set certificate content'))
      else if (before !== '')
        errors.push(forbiddenField(CERTIFICATE, 'updates may not modify existing certificate content'))
    }
    return [...errors, ...validateKindMetaUpdate(request.metadata, old.metadata)]
  }
}

const sameConditions = (request: Request, old: Request, type: string): boolean =>
  // conditions are JSON
  stringifySorted(conditionsOf(request, type) as unknown as Json) ===
  stringifySorted(conditionsOf(old, type) as unknown as Json)

const knownUsages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown'

/** @param old the stored object, whose own errors may stay */
async function requestErrors(request: Request, old: Request | undefined): Promise<FieldError[]> {
  const { spec = {}, status = {} } = request
  const { usages = [], signerName = '', expirationSeconds } = spec
  const at = path('spec')
  const errors = old === undefined ? [] : validateObjectMeta(request.metadata, false, anyName)
  const problem = await textProblem(spec.request ?? '')
  if (problem !== undefined) errors.push(invalidValue(at.child('request'), spec.request ?? null, problem))
  if (usages.length === 0) errors.push(required(at.child('usages')))
  const oldUsages = old?.spec?.usages ?? []
  if (oldUsages.every((usage) => knownUsages.includes(usage)))
    append(
      errors,
      errorsOf(usages, (usage, index) =>
        !knownUsages.includes(usage) ? [notSupported(at.child('usages').index(index), usage, knownUsages)] : [],
      ),
    )
  if (new Set(oldUsages).size === oldUsages.length)
    for (const index of repeatsIn(usages)) errors.push(duplicate(at.child('usages').index(index), usages[index]!))
  if (signerName === LEGACY_SIGNER && old?.spec?.signerName !== LEGACY_SIGNER)
    errors.push(
      invalidValue(at.child('signerName'), signerName, 'the legacy signerName is not allowed via this API version'),
    )
  else append(errors, signerNameErrors(signerName, at.child('signerName')))
  if (expirationSeconds !== undefined && expirationSeconds < 600)
    errors.push(
      invalidValue(
        at.child('expirationSeconds'),
        expirationSeconds,
        'may not specify a duration less than 600 seconds (10 minutes)',
      ),
    )
  append(errors, conditionErrors(request, old))
  const { certificate = '' } = status
  const tolerated = old !== undefined && (certificate === (old.status?.certificate ?? '') || hasBadCertificate(old))
  const bad = tolerated ? undefined : certificateProblem(certificate)
  if (bad !== undefined) errors.push(invalidValue(CERTIFICATE, '<certificate data>', bad))
  return errors
}

async function textProblem(base64: string): Promise<string | undefined> {
  try {
    const request = parseCertificateRequest(textOf(base64))
    const bad = uriProblem(request.alternativeNames)
    if (bad !== undefined) return bad
    return (await hasOwnSignature(request)) ? undefined : 'x509: ECDSA verification failure'
  } catch (error) {
    if (error instanceof BadRequestText) return error.message
    throw error
  }
}

const textOf = (base64: string): string => new TextDecoder().decode(fromBase64(base64))

const alwaysTrue = new Set(['Approved', 'Denied', 'Failed'])

function conditionErrors(request: Request, old: Request | undefined): FieldError[] {
  const errors: FieldError[] = []
  const before = old === undefined ? [] : conditionsOf(old).map(({ type = '' }) => type)
  const wereBoth = before.includes('Approved') && before.includes('Denied')
  const hadRepeats = new Set(before).size < before.length
  const hadUntyped = before.includes('')
  const conditions = conditionsOf(request)
  const seen = kept(conditions, () => new Set<string>())
  append(
    errors,
    errorsOf(conditions, ({ type = '', status = '' }, index) => {
      const errors: FieldError[] = []
      const at = CONDITIONS.index(index)
      if (type === '' && !hadUntyped) errors.push(required(at.child('type')))
      const allowed = alwaysTrue.has(type) ? ['True'] : ['False', 'True', 'Unknown']
      if (status === '') errors.push(required(at.child('status')))
      else if (!allowed.includes(status)) errors.push(notSupported(at.child('status'), status, allowed))
      const other = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
      if (other !== undefined && seen.has(other) && !wereBoth)
        errors.push(invalidValue(CONDITIONS, type, 'Approved and Denied conditions are mutually exclusive'))
      if (seen.has(type) && !hadRepeats) errors.push(duplicate(at.child('type'), type))
      seen.add(type)
      return errors
    }),
  )
  return errors
}

const hasBadCertificate = ({ status }: Request): boolean => certificateProblem(status?.certificate ?? '') !== undefined

function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined
  const blocks = pemBlocks(textOf(base64))
  for (const { type, bytes, hasHeaders } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    try {
      readCertificate(bytes)
    } catch {
      return 'x509: malformed certificate'
    }
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}
