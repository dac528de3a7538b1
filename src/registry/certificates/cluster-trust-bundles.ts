import { addTo } from '../../base/lookup.ts'
import type { ClusterTrustBundle } from '../../api/certificates/v1beta1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, path, tooLong } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { immutable, problems } from '../../validation/field-rules.ts'
import { subdomainName } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { isAuthority } from '../../x509/authority.ts'
import { readCertificate } from '../../x509/certificate.ts'
import type { PemBlock } from '../../x509/pem.ts'
import { pemBlocks, toBase64 } from '../../x509/pem.ts'
import { clusterTrustBundlePrinter } from '../../codec/table/certificates.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { signerNameErrors } from './signer-name.ts'
import { errorsOf } from '../../validation/errors-of.ts'

type Bundle = ClusterTrustBundle & KubeObject

const MAX_BYTES = 1024 * 1024

export const clusterTrustBundles: BuiltInDefinition<Bundle> = {
  printer: clusterTrustBundlePrinter,
  allowUnconditionalUpdate: false,
  // validation compares the name with that of the signer
  nameRule: () => [],
  metadataOnUpdate: 'by strategy',
  validate: (bundle) => [...commonErrors(bundle), ...anchorsErrors(bundle.spec?.trustBundle ?? '', anchorsAt)],
  validateUpdate: (bundle, { metadata, spec: old = {} }) => {
    const { signerName = '', trustBundle = '' } = bundle.spec ?? {}
    return [
      ...validateObjectMeta(bundle.metadata, false, () => []),
      ...commonErrors(bundle),
      ...(trustBundle === (old.trustBundle ?? '') ? [] : anchorsErrors(trustBundle, anchorsAt)),
      ...validateKindMetaUpdate(bundle.metadata, metadata),
      ...immutable(path('spec', 'signerName'), signerName, signerName === (old.signerName ?? '')),
    ]
  },
  selectableFields: ({ spec = {} }) => ({ 'spec.signerName': spec.signerName ?? '' }),
}

const anchorsAt = path('spec', 'trustBundle')

function commonErrors({ metadata, spec: { signerName = '' } = {} }: Bundle): FieldError[] {
  const at = path('metadata')
  const { name, generateName } = metadata
  return [
    ...(generateName
      ? problems(at.child('generateName'), generateName, nameProblems(generateName, true, signerName))
      : []),
    ...(name ? problems(at.child('name'), name, nameProblems(name, false, signerName)) : []),
    ...(signerName === '' ? [] : signerNameErrors(signerName, path('spec', 'signerName'))),
  ]
}

/** The name of a bundle with a signer begins with the name of that signer. */
function nameProblems(name: string, isPrefix: boolean, signerName: string): readonly string[] {
  if (signerName === '')
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : subdomainName(name, isPrefix)
  const prefix = `${signerName.replaceAll('/', ':')}:`
  return name.startsWith(prefix)
    ? subdomainName(name.slice(prefix.length), isPrefix)
    : [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`]
}

function anchorsErrors(text: string, at: FieldPath): FieldError[] {
  if (byteLength(text) > MAX_BYTES) return [tooLong(at, MAX_BYTES)]
  const wrong = (why: string) => invalidValue(at, '<value omitted>', why)
  const blocks = pemBlocks(text)
  const errors = errorsOf(blocks, (block, index) => {
    const why = problemOf(block)
    return why === undefined ? [] : [wrong(`entry ${index} ${why}`)]
  })
  if (errors.length > 0) return errors
  if (blocks.length === 0) return [wrong('at least one trust anchor must be provided')]
  const indices = new Map<string, number[]>()
  blocks.forEach(({ bytes }, index) => addTo(indices, toBase64(bytes), index))
  return [...indices.values()]
    .filter((same) => same.length > 1)
    .map((same) => wrong(`duplicate trust anchor (indices [${same.join(' ')}])`))
}

function problemOf({ type, bytes, hasHeaders }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`
  if (hasHeaders) return 'has PEM block headers'
  try {
    readCertificate(bytes)
    return isAuthority(bytes) ? undefined : 'does not have the CA bit set'
  } catch {
    return 'does not parse as X.509'
  }
}
