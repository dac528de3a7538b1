/** Validates projected volumes. The paths of their sources must not overlap. */
import { kept } from '../../base/parts.ts'
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, required, tooLong } from '../../api/field.ts'
import { problems, requiredText } from '../field-rules.ts'
import { validateLabelSelector } from '../label-selectors.ts'
import { nonReservedPath } from '../local-paths.ts'
import { dns1123Label, dns1123Subdomain } from '../names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateAnnotations } from '../object-meta.ts'
import { internalJson, selectorJson } from './internal-json.ts'
import type { PodRules } from './rules.ts'
import { validateDownwardFile, validateKeyToPath } from './volume-files.ts'
import { errorsOf } from '../errors-of.ts'

const TRUST_BUNDLE = 'io.k8s.api.core.v1.ClusterTrustBundleProjection'
const CONFLICT = 'conflicting duplicate paths'
const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']

export function validateProjected(
  at: FieldPath,
  projected: CoreV1.ProjectedVolumeSource,
  rules: PodRules,
): FieldError[] {
  const { sources = [] } = projected
  const taken = kept(sources, () => new Set<string>())
  /** @param value the value in kube-apiserver's error if another source has the path */
  const claim = (file: string, value: unknown): FieldError[] => {
    if (taken.has(file)) return [invalidValue(at, value, CONFLICT)]
    taken.add(file)
    return []
  }
  return errorsOf(sources, (source, index) => {
    const here = at.child('sources').index(index)
    const errors: FieldError[] = []
    for (const field of ['secret', 'configMap'] as const) {
      const keyed = source[field]
      if (keyed === undefined) continue
      const { name = '', items = [] } = keyed
      append(errors, requiredText(here.child(field, 'name'), name))
      const ofItems = errorsOf(items, (item, position) => {
        const wrong = validateKeyToPath(here.child(field, 'items').index(position), item)
        return item.path ? [...wrong, ...claim(item.path, name)] : wrong
      })
      append(errors, ofItems)
    }
    const ofFiles = errorsOf(source.downwardAPI?.items ?? [], (file) => {
      const wrong = validateDownwardFile(here.child('downwardAPI'), file)
      return file.path ? [...wrong, ...claim(file.path, file.path)] : wrong
    })
    append(errors, ofFiles)
    if (source.serviceAccountToken)
      append(errors, validateToken(at, here.child('serviceAccountToken'), source.serviceAccountToken, rules))
    if (source.clusterTrustBundle) {
      append(errors, validateTrustBundle(here.child('clusterTrustBundle'), source.clusterTrustBundle))
      append(errors, claim(source.clusterTrustBundle.path ?? '', source.clusterTrustBundle.path ?? ''))
    }
    if (source.podCertificate) {
      const certificate = source.podCertificate
      append(errors, validateCertificate(here.child('podCertificate'), certificate))
      let files = 0
      for (const field of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
        const file = certificate[field]
        if (!file) continue
        files++
        append(errors, nonReservedPath(here.child('podCertificate', field), file))
        append(errors, claim(file, file))
      }
      if (files === 0)
        errors.push(
          required(
            here.child('podCertificate'),
            'specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
          ),
        )
    }
    if (Object.values(source).filter((value) => value !== undefined).length > 1)
      errors.push(forbiddenField(here, 'may not specify more than 1 volume type per source'))
    return errors
  })
}

function validateToken(
  volume: FieldPath,
  at: FieldPath,
  { expirationSeconds = 0, path = '' }: CoreV1.ServiceAccountTokenProjection,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const seconds = at.child('expirationSeconds')
  if (expirationSeconds < 600)
    errors.push(invalidValue(seconds, expirationSeconds, 'may not specify a duration less than 10 minutes'))
  if (expirationSeconds > 2 ** 32)
    errors.push(invalidValue(seconds, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  // kube-apiserver reports these at the volume, not at the source
  if (path === '') errors.push(required(volume.child('path')))
  else if (!rules.allows.tokenPaths) append(errors, nonReservedPath(volume.child('path'), path))
  return errors
}

function validateTrustBundle(at: FieldPath, bundle: CoreV1.ClusterTrustBundleProjection): FieldError[] {
  const { name, signerName, labelSelector, path = '' } = bundle
  const errors: FieldError[] = []
  if (name !== undefined && signerName !== undefined)
    errors.push(invalidValue(at, internalJson(TRUST_BUNDLE, bundle), 'only one of name and signerName may be used'))
  else if (name !== undefined) {
    append(errors, requiredText(at.child('name'), name, 'must be a valid object name'))
    append(
      errors,
      dns1123Subdomain(name.split(':').at(-1)!).map((text) =>
        invalidValue(at.child('name'), name, `not a valid clustertrustbundlename: ${text}`),
      ),
    )
    if (labelSelector !== undefined)
      errors.push(
        invalidValue(
          at.child('labelSelector'),
          selectorJson(labelSelector),
          'labelSelector must be unset if name is specified',
        ),
      )
  } else if (signerName !== undefined) {
    append(errors, [
      ...requiredText(at.child('signerName'), signerName, 'must be a valid signer name'),
      ...validateSignerName(at.child('signerName'), signerName),
      ...validateLabelSelector(at.child('labelSelector'), labelSelector),
    ])
  } else errors.push(required(at, 'either name or signerName must be specified'))
  return [...errors, ...requiredText(at.child('path'), path), ...nonReservedPath(at.child('path'), path)]
}

function validateCertificate(at: FieldPath, certificate: CoreV1.PodCertificateProjection): FieldError[] {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds, userAnnotations } = certificate
  const errors = validateSignerName(at.child('signerName'), signerName)
  if (userAnnotations !== undefined) append(errors, validateAnnotations(userAnnotations, at.child('userAnnotations')))
  if (!KEY_TYPES.includes(keyType)) errors.push(notSupported(at.child('keyType'), keyType, KEY_TYPES))
  if (seconds !== undefined) {
    const max = /^([^/]+\.)?kubernetes\.io\//.test(signerName) ? 86400 : 7862400
    const field = at.child('maxExpirationSeconds')
    if (seconds < 3600) errors.push(invalidValue(field, seconds, 'if provided, maxExpirationSeconds must be >= 3600'))
    if (seconds > max) errors.push(invalidValue(field, seconds, `if provided, maxExpirationSeconds must be <= ${max}`))
  }
  return errors
}

/** `DOMAIN/PATH`: a domain of at least two labels, and a path of dotted labels. */
function validateSignerName(at: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(at)]
  const segments = name.split('/')
  if (segments.length !== 2)
    return [invalidValue(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const [domain = '', path = ''] = segments
  const errors: FieldError[] = []
  if (byteLength(domain) > 253) errors.push(tooLong(at, 253))
  const labels = domain.split('.')
  if (labels.length < 2)
    errors.push(invalidValue(at, domain, 'should be a domain with at least two segments separated by dots'))
  append(
    errors,
    errorsOf(labels, (label) => problems(at, label, dns1123Label(label))),
  )
  if (path === '') errors.push(invalidValue(at, path, "should be a path of the form 'example.com/signer-name'"))
  append(errors, problems(at, path, dns1123Subdomain(path)))
  return errors
}
