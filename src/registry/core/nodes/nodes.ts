import { ownValue } from '../../../base/own.ts'
import type { Node, NodeConfigSource, NodeStatus, Taint } from '../../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import {
  duplicate,
  forbiddenField,
  internalFieldError,
  invalidValue,
  notSupported,
  path,
  required,
} from '../../../api/field.ts'
import { repeatsIn } from '../../../base/lookup.ts'
import { positive, validateQualifiedName } from '../../../validation/field-rules.ts'
import { cidrWarnings, legacyCidrErrors, parseCidr } from '../../../api/ip-addresses.ts'
import { labelValueProblems, subdomainName } from '../../../validation/names.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../../validation/object-meta.ts'
import { validateAmount } from '../../../validation/pod/resources.ts'
import { nodePrinter } from '../../../codec/table/core.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import { nodeWork } from './node-work.ts'
import { errorsByName, errorsOf } from '../../../validation/errors-of.ts'
import { flatMapParts, kept, mapParts } from '../../../base/parts.ts'

const metadata = path('metadata')
const spec = path('spec')
const status = path('status')
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/
const MAX_FEATURE = 253

export const nodes: BuiltInDefinition<Node> = {
  endpoints: { proxy: 'node-proxy' },
  printer: nodePrinter,
  workloadWork: nodeWork,
  keepsStatusOnCreate: true,
  storagePrefix: 'minions',
  prepareForCreate(node) {
    delete node.spec?.configSource
    delete node.status?.config
  },
  prepareForUpdate(node, old) {
    if (old.spec?.configSource === undefined) delete node.spec?.configSource
  },
  validate: (node) => nodeErrors(node),
  metadataOnUpdate: 'by strategy',
  validateUpdate: (node, old) => [
    ...validateObjectMeta(node.metadata, false, subdomainName),
    ...nodeErrors(node),
    ...validateKindMetaUpdate(node.metadata, old.metadata),
    ...changeErrors(node, old),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  selectableFields: ({ spec: now }) => ({ 'spec.unschedulable': String(now?.unschedulable ?? false) }),
  subresources: {
    status: {
      prepareForUpdate(node, old) {
        if (old.status?.config === undefined) delete node.status?.config
      },
      validateUpdate: changeErrors,
    },
  },
}

function nodeErrors(node: Node): FieldError[] {
  const now = node.status ?? {}
  const swap = now.nodeInfo?.swap?.capacity
  return [
    ...taintErrors(node),
    ...amountsErrors(now),
    ...(swap === undefined ? [] : positive(metadata.child('nodeSwapStatus', 'capacity'), swap)),
    ...featureErrors(now.declaredFeatures ?? []),
    ...podCidrErrors(node.spec?.podCIDRs ?? []),
  ]
}

/** kube-apiserver reports taints with a path below metadata. */
function taintErrors(node: Node): FieldError[] {
  const taints = node.spec?.taints ?? []
  const seen = kept(taints, () => new Set<string>())
  return errorsOf(taints, (taint, index) => {
    const at = metadata.child('taints').index(index)
    const { key = '', value = '', effect = '' } = taint
    const problems = labelValueProblems(value)
    const pair = JSON.stringify([key, effect])
    const isRepeated = seen.has(pair)
    seen.add(pair)
    return [
      ...validateQualifiedName(at.child('key'), key),
      ...(problems.length === 0 ? [] : [invalidValue(at.child('value'), value, problems.join(';'))]),
      ...effectErrors(at.child('effect'), effect),
      ...(isRepeated ? [repeatedTaint(at, taint)] : []),
    ]
  })
}

function effectErrors(at: FieldPath, effect: string): FieldError[] {
  if (effect === '') return [required(at)]
  return effects.includes(effect) ? [] : [notSupported(at, effect, effects)]
}

function repeatedTaint(at: FieldPath, { key = '', value = '', effect = '', timeAdded }: Taint): FieldError {
  const error = duplicate(at, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null })
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` }
}

const amountsErrors = ({ capacity = {}, allocatable = {} }: NodeStatus): FieldError[] =>
  [['capacity', capacity] as const, ['allocatable', allocatable] as const].flatMap(([field, list]) =>
    errorsByName(list, (name) => validateAmount(status.child(field, name), name, ownValue(list, name)!)),
  )

function featureErrors(features: readonly string[]): FieldError[] {
  const at = status.child('declaredFeatures')
  return errorsOf(features, (feature, index) => {
    const next = features[index + 1]
    const errors = featureProblems(feature).map((text) => invalidValue(at.index(index), feature, text))
    if (next === feature) errors.push(duplicate(at.index(index + 1), next))
    else if (next !== undefined && feature > next)
      errors.push(invalidValue(at.index(index + 1), next, 'list must be sorted alphabetically'))
    return errors
  })
}

function featureProblems(name: string): string[] {
  const wrong = `invalid feature name ${JSON.stringify(name)}:`
  if (name.length > MAX_FEATURE) return [`${wrong} must be no more than ${MAX_FEATURE} characters`]
  if (FEATURE.test(name)) return []
  return [
    `${wrong} must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
  ]
}

function podCidrErrors(cidrs: readonly string[]): FieldError[] {
  const at = spec.child('podCIDRs')
  const errors = errorsOf(cidrs, (cidr, index) => legacyCidrErrors(at.index(index), cidr))
  if (cidrs.length < 2) return errors
  const families = kept(cidrs, () => new Set(mapParts(cidrs, (cidr) => parseCidr(cidr)?.address.family)))
  const unreadable = families.has(undefined) ? cidrs.findIndex((cidr) => parseCidr(cidr) === undefined) : -1
  if (unreadable >= 0)
    errors.push(
      internalFieldError(
        at,
        `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${unreadable}]: <nil> (invalid CIDR address: ${cidrs[unreadable]})`,
      ),
    )
  if (families.size < 2 || unreadable >= 0 || cidrs.length > 2)
    errors.push(invalidValue(at, cidrs, 'may specify no more than one CIDR for each IP family'))
  return errors
}

function changeErrors(node: Node, old: Node): FieldError[] {
  const now = node.status ?? {}
  const before = old.spec?.podCIDRs ?? []
  const cidrs = node.spec?.podCIDRs ?? []
  const addresses = now.addresses ?? []
  const lost =
    before.length === cidrs.length ? before.filter((cidr, index) => cidr !== cidrs[index]) : before.slice(0, 1)
  const { providerID } = old.spec ?? {}
  const repeats = repeatsIn(addresses.map(({ type, address }) => JSON.stringify([type, address])))
  return [
    ...amountsErrors(now),
    ...featureErrors(now.declaredFeatures ?? []),
    ...errorsOf(addresses, (address, index) => {
      const shown = { Type: address.type ?? '', Address: address.address ?? '' }
      return repeats.has(index) ? [duplicate(status.child('addresses').index(index), shown)] : []
    }),
    ...(before.length === 0
      ? []
      : lost.map(() =>
          forbiddenField(spec.child('podCIDRs'), 'node updates may not change podCIDR except from "" to valid'),
        )),
    ...(providerID && providerID !== node.spec?.providerID
      ? [forbiddenField(spec.child('providerID'), 'node updates may not change providerID except from "" to valid')]
      : []),
    ...configErrors(node),
    ...taintErrors(node),
    ...((node.spec?.externalID ?? '') === (old.spec?.externalID ?? '')
      ? []
      : [forbiddenField(spec.child('externalID'), 'may not be updated')]),
  ]
}

/** Dynamic kubelet configuration: kube-apiserver removed the feature, but still validates its fields. */
function configErrors({ spec: now, status: { config } = {} }: Node): FieldError[] {
  const at = status.child('config')
  const of = (source: NodeConfigSource | undefined, here: FieldPath, inSpec: boolean) =>
    source === undefined ? [] : sourceErrors(source, here, inSpec)
  return [
    ...of(now?.configSource, spec.child('configSource'), true),
    ...of(config?.assigned, at.child('assigned'), false),
    ...of(config?.active, at.child('active'), false),
    ...of(config?.lastKnownGood, at.child('lastKnownGood'), false),
  ]
}

function sourceErrors({ configMap }: NodeConfigSource, at: FieldPath, inSpec: boolean): FieldError[] {
  if (configMap === undefined)
    return [invalidValue(at, { ConfigMap: null }, 'exactly one reference subfield must be non-nil')]
  const here = at.child('configMap')
  const { uid, resourceVersion, name, namespace, kubeletConfigKey } = configMap
  const system = (field: string, value: string | undefined) => {
    if (inSpec) return value ? [forbiddenField(here.child(field), `${field} must not be set in spec`)] : []
    return value ? [] : [required(here.child(field), `${field} must be set in status`)]
  }
  const need = (field: string, value: string | undefined) =>
    value ? [] : [required(here.child(field), `${field} must be set`)]
  return [
    ...system('uid', uid),
    ...system('resourceVersion', resourceVersion),
    ...need('namespace', namespace),
    ...need('name', name),
    ...need('kubeletConfigKey', kubeletConfigKey),
  ]
}

function warnings({ spec: now }: Node): string[] {
  return [
    ...(now?.configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...(now?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...flatMapParts(now?.podCIDRs ?? [], (cidr, index) => cidrWarnings(spec.child('podCIDRs').index(index), cidr)),
  ]
}
