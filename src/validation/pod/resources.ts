/** Validates resource requests and limits of containers and pods. */
import { kept } from '../../base/parts.ts'
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import {
  duplicate,
  forbiddenField,
  invalidValue,
  named,
  notFoundField,
  notSupported,
  required,
} from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { sentField } from '../../schema/emptied.ts'
import { Quantity } from '../../schema/quantity.ts'
import { aggregatedResources } from '../../schema/pod-resource-defaults.ts'
import { NOT_NEGATIVE, validateLabelText, validateNamed } from '../field-rules.ts'
import { qualifiedNameProblems } from '../names.ts'
import type { PodRules } from './rules.ts'
import { HUGE_PAGES, isIndivisibleHugePage } from './rules.ts'
import { errorsByName, errorsOf } from '../errors-of.ts'

const OF_CONTAINERS = new Set(['cpu', 'memory', 'ephemeral-storage'])
const COUNTED = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])
const STANDARD = new Set([
  ...OF_CONTAINERS,
  ...COUNTED,
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'storage',
  'requests.storage',
])

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES)
const isStandard = (name: string) =>
  STANDARD.has(name) || isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`)
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
export const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedNameProblems(`requests.${name}`).length === 0
const mayOvercommit = (name: string) => isNative(name) && !isHugePages(name)

/** Validates a resource name: a standard one, or one with a domain. */
export function validateResourceName(at: FieldPath, name: string): FieldError[] {
  const errors = validateNamed(at, name)
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors
  return [invalidValue(at, named(name), 'must be a standard resource type or fully qualified')]
}

export function validateContainerResourceName(at: FieldPath, name: string): FieldError[] {
  const errors = validateResourceName(at, name)
  if (!name.includes('/')) {
    if (!OF_CONTAINERS.has(name) && !isHugePages(name))
      errors.push(invalidValue(at, named(name), 'must be a standard resource for containers'))
  } else if (!isNative(name) && !isExtended(name))
    errors.push(invalidValue(at, named(name), "doesn't follow extended resource name standard"))
  return errors
}

const OF_PODS = ['cpu', 'memory']

function validatePodResourceName(at: FieldPath, name: string): FieldError[] {
  const errors = validateResourceName(at, name)
  if (errors.length > 0 || OF_PODS.includes(name) || isHugePages(name)) return errors
  return [notSupported(at, name, [...OF_PODS, HUGE_PAGES].sort())]
}

/** Validates an amount: not negative, and an integer where the resource has only whole units. */
export function validateAmount(at: FieldPath, name: string, text: string): FieldError[] {
  const amount = Quantity.parse(text)
  const errors: FieldError[] = []
  if (amount.sign < 0) errors.push(invalidValue(at, amount.toString(), NOT_NEGATIVE))
  if ((COUNTED.has(name) || isExtended(name)) && !amount.isWholeByMilliValue)
    errors.push(invalidValue(at, amount.toString(), 'must be an integer'))
  return errors
}

export function validateResources(
  at: FieldPath,
  resources: CoreV1.ResourceRequirements,
  claimNames: ReadonlySet<string>,
  rules: PodRules,
  nameRule: (at: FieldPath, name: string) => FieldError[] = validateContainerResourceName,
): FieldError[] {
  const { limits = {}, requests = {}, claims = [] } = resources
  const pages = (here: FieldPath, name: string, text: string): FieldError[] =>
    !rules.allows.hugePages && isIndivisibleHugePage(name, text)
      ? [invalidValue(here, text, `${text} is not positive integer multiple of ${name}`)]
      : []
  // a caller may make `resources` anew for each run of the walk, so the lists identify the kept value
  const named = kept(resources.limits ?? resources.requests, () => ({ hugePages: false, cpuOrMemory: false }))
  const note = (name: string): void => {
    named.hugePages ||= isHugePages(name)
    named.cpuOrMemory ||= OF_PODS.includes(name)
  }
  const ofLimits = errorsByName(limits, (name) => {
    note(name)
    const here = at.child('limits').key(name)
    const text = ownValue(limits, name)!
    return [...nameRule(here, name), ...validateAmount(here, name, text), ...pages(here, name, text)]
  })
  const ofRequests = errorsByName(requests, (name) => {
    note(name)
    const here = at.child('requests').key(name)
    const text = ownValue(requests, name)!
    const errors = [...nameRule(here, name), ...validateAmount(here, name, text)]
    const limit = ownValue(limits, name)
    if (limit !== undefined) {
      const order = Quantity.parse(text).compare(Quantity.parse(limit))
      if (order !== 0 && !mayOvercommit(name))
        errors.push(invalidValue(at.child('requests'), text, `must be equal to ${name} limit of ${limit}`))
      else if (order > 0)
        errors.push(invalidValue(at.child('requests'), text, `must be less than or equal to ${name} limit of ${limit}`))
    } else if (!mayOvercommit(name))
      errors.push(required(at.child('limits'), 'Limit must be set for non overcommitable resources'))
    return [...errors, ...pages(here, name, text)]
  })
  const errors = [...ofLimits, ...ofRequests]
  if (named.hugePages && !named.cpuOrMemory) errors.push(forbiddenField(at, 'HugePages require cpu or memory'))
  return [...errors, ...validateClaims(at.child('claims'), claims, claimNames)]
}

function validateClaims(
  at: FieldPath,
  claims: readonly CoreV1.ResourceClaim[],
  known: ReadonlySet<string>,
): FieldError[] {
  const seen = kept(claims, () => new Set<string>())
  /** The number of distinct claims, by the text before the first slash of their name. */
  const times = kept(claims, () => new Map<string, number>())
  const names = kept(claims, () => (known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`))
  return errorsOf(claims, ({ name = '', request = '' }, index) => {
    const here = at.index(index)
    if (name === '') return [required(here)]
    const errors: FieldError[] = []
    if (seen.has(name)) errors.push(duplicate(here, name))
    else {
      if (request !== '') append(errors, validateLabelText(here.child('request'), request))
      const key = request === '' ? name : `${name}/${request}`
      if (seen.has(key)) errors.push(duplicate(here, key))
      else {
        if (request === '')
          for (let others = times.get(name) ?? 0; others > 0; others--) errors.push(duplicate(here, name))
        const [start = ''] = key.split('/', 1)
        times.set(start, (times.get(start) ?? 0) + 1)
      }
      seen.add(key)
    }
    if (known.has(name)) return errors
    const missing = notFoundField(here, name)
    errors.push({
      ...missing,
      message: `${missing.message}: must be one of the names in pod.spec.resourceClaims${names}`,
    })
    return errors
  })
}

/** Validates pod-level resources. They must not be less than the resources of the containers. */
export function validatePodResources(
  at: FieldPath,
  spec: CoreV1.PodSpec,
  claimNames: ReadonlySet<string>,
  rules: PodRules,
): FieldError[] {
  const { resources, os, containers = [] } = spec
  if (resources === undefined) return []
  if (os?.name === 'windows') return [forbiddenField(at, 'may not be set for a windows pod')]
  const errors: FieldError[] = []
  if (sentField(resources, 'claims') !== undefined)
    errors.push(forbiddenField(at.child('claims'), 'claims may not be set for Resources at pod-level'))
  append(errors, validateResources(at, resources, claimNames, rules, validatePodResourceName))
  for (const [name, total] of aggregatedResources(spec, 'requests')) {
    const given = ownValue(resources.requests, name)
    if (given !== undefined && total.compare(Quantity.parse(given)) > 0)
      errors.push(
        invalidValue(
          at.child('requests').key(name),
          given,
          `must be greater than or equal to aggregate container requests of ${total}`,
        ),
      )
  }
  for (const [name, total] of aggregatedResources(spec, 'limits')) {
    const given = ownValue(resources.limits, name)
    if (isHugePages(name) && given !== undefined && total.compare(Quantity.parse(given)) > 0)
      errors.push(
        invalidValue(
          at.child('limits').key(name),
          given,
          `must be greater than or equal to aggregate container limits of ${total}`,
        ),
      )
  }
  append(
    errors,
    errorsOf(containers, (container, index) => {
      const limits = container.resources?.limits ?? {}
      return errorsByName(limits, (name) => {
        const limit = ownValue(limits, name)!
        const given = ownValue(resources.limits, name)
        return given !== undefined && Quantity.parse(limit).compare(Quantity.parse(given)) > 0
          ? [
              invalidValue(
                at.child('containers').index(index).key(name).child('limits'),
                limit,
                `must be less than or equal to pod limits of ${given}`,
              ),
            ]
          : []
      })
    }),
  )
  return errors
}
