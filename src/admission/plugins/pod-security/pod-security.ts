/**
 * PodSecurity: pods meet the standards that the labels of their namespace name (KEP-2579). `enforce` refuses pods.
 * `audit` and `warn` also check pod templates, and refuse nothing.
 */
import type { Container, Namespace, Pod, PodTemplateSpec } from '../../../api/core/v1.ts'
import type { GroupResource } from '../../../api/group-version.ts'
import { append } from '../../../base/append.ts'
import type { FieldError } from '../../../api/field.ts'
import { messageOf } from '../../../api/field.ts'
import { ownValue } from '../../../base/own.ts'
import { forbidden, internalError, invalid } from '../../../api/status.ts'
import { goQuote } from '../../../go/quote.ts'
import type { PodSecuritySetting } from '../../../configuration/pod-security.ts'
import { settingsOf } from '../../../settings.ts'
import { definitionOf } from '../../../registry/definitions.ts'
import { namespaceOf } from '../../../tenancy/namespaces.ts'
import type { AdmissionPlugin, Attributes } from '../../attributes.ts'
import { countError, countEvaluation, countExemption } from './counted.ts'
import { detailText, violationsOf } from './evaluate.ts'
import { warningsOfPods } from './existing-pods.ts'
import type { Policy, Standard } from './policy.ts'
import { LATEST, PREFIX, isPrivileged, isSame, isStricter, policyOf, standardText } from './policy.ts'

/** What is checked: a pod, or the template of future pods. */
type Template = Pick<PodTemplateSpec, 'metadata' | 'spec'>

/** The pod template of a resource's object; undefined for resources without one. */
const templateIn = (resource: GroupResource) => definitionOf(resource).podTemplate

/**
 * These subresources change nothing that the checks read. Any other subresource of a pod is checked, also a future
 * one.
 */
const IGNORED_SUBRESOURCES = new Set(['attach', 'binding', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'status'])

const isOf = (resource: GroupResource, name: string): boolean => resource.group === '' && resource.resource === name

export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',
  handles({ operation, resource, subresource }) {
    if (operation !== 'CREATE' && operation !== 'UPDATE') return false
    if (isOf(resource, 'pods')) return !IGNORED_SUBRESOURCES.has(subresource)
    if (subresource !== '') return false
    return isOf(resource, 'namespaces') || templateIn(resource) !== undefined
  },
  validate(attributes) {
    const { resource } = attributes
    if (isOf(resource, 'namespaces')) return judgeNamespace(attributes)
    return isOf(resource, 'pods') ? judgePod(attributes) : judgeTemplate(attributes)
  },
}

/** Refuses changed labels that cannot be read. Warns where existing pods violate a stricter level. */
async function judgeNamespace(attributes: Attributes): Promise<void> {
  const { operation, object, oldObject, request, name, kind } = attributes
  const { defaults, exempt } = settingOf(attributes)
  const { policy, errors } = policyOf(object?.metadata.labels, defaults)
  if (operation === 'CREATE') {
    if (errors.length > 0) throw invalid(kind, name, errors)
    if (exempt.namespaces.has(name)) warnOfExemption(attributes, policy)
    return
  }
  const before = policyOf(oldObject?.metadata.labels, defaults)
  if (errors.length > 0 && JSON.stringify(errors) !== JSON.stringify(before.errors)) throw invalid(kind, name, errors)
  const { enforce } = policy
  const old = before.policy.enforce
  if (isSame(enforce, old) || enforce.level === 'privileged') return
  if (enforce.version === old.version && !isStricter(enforce.level, old.level)) return
  if (exempt.namespaces.has(name)) warnOfExemption(attributes, policy)
  else append(request.warnings, await warningsOfPods(request, name, enforce, (pod) => hasExemptClass(attributes, pod)))
}

const settingOf = ({ request }: Attributes): PodSecuritySetting => settingsOf(request.env).admission.podSecurity

/** Warns that labels have no effect on an exempt namespace. */
function warnOfExemption(attributes: Attributes, policy: Policy): void {
  const { request, name, object } = attributes
  const { defaults } = settingOf(attributes)
  if (isPrivileged(policy) || MODES.every((mode) => isSame(policy[mode], defaults[mode]))) return
  const isSet = (label: string): boolean => ownValue(object?.metadata.labels, `${PREFIX}${label}`) !== undefined
  const asked = MODES.filter(
    (mode) => policy[mode].level !== 'privileged' && (isSet(mode) || isSet(`${mode}-version`)),
  ).map((mode) => `${mode}=${standardText(policy[mode])}`)
  request.warnings.push(
    `namespace ${goQuote(name)} is exempt from Pod Security, and the policy (${asked.join(', ')}) will be ignored`,
  )
}

const MODES = ['enforce', 'audit', 'warn'] as const

/** Whether the namespace or the user is exempt. */
function isExempt(attributes: Attributes): boolean {
  const { usernames, namespaces } = settingOf(attributes).exempt
  if (namespaces.has(attributes.namespace)) annotate(attributes, 'exempt', 'namespace')
  else if (usernames.has(attributes.user.name)) annotate(attributes, 'exempt', 'user')
  else return false
  countExemption(attributes)
  return true
}

const hasExemptClass = (attributes: Attributes, { spec }: Pick<Template, 'spec'>): boolean =>
  spec?.runtimeClassName !== undefined && settingOf(attributes).exempt.runtimeClasses.has(spec.runtimeClassName)

function isExemptClass(attributes: Attributes, template: Template): boolean {
  if (!hasExemptClass(attributes, template)) return false
  annotate(attributes, 'exempt', 'runtimeClass')
  countExemption(attributes)
  return true
}

async function judgePod(attributes: Attributes): Promise<void> {
  const { object, oldObject, operation, resource, name } = attributes
  if (isExempt(attributes)) return
  const namespace = await namespaceFor(attributes)
  // the namespace's labels say what to enforce, so without the namespace the request is refused
  if (namespace === undefined) {
    countError(attributes, true)
    throw internalError(`failed to lookup namespace "${attributes.namespace}"`)
  }
  const { policy, errors } = policyOf(namespace.metadata.labels, settingOf(attributes).defaults)
  if (errors.length === 0 && isPrivileged(policy)) {
    annotate(attributes, 'enforce-policy', standardText({ level: 'privileged', version: LATEST }))
    countEvaluation(attributes, 'allow', policy.enforce, 'enforce')
    return
  }
  // bodies of writes to pods were decoded as a Pod
  const pod = object as unknown as Pod
  if (operation === 'UPDATE' && !changesImages(pod, oldObject as unknown as Pod)) return
  if (isExemptClass(attributes, pod)) return
  annotateErrors(attributes, errors)
  annotate(attributes, 'enforce-policy', standardText(policy.enforce))
  const violations = violationsOf(policy.enforce, pod.metadata.annotations, pod.spec)
  countEvaluation(attributes, violations.length === 0 ? 'allow' : 'deny', policy.enforce, 'enforce')
  auditViolations(attributes, policy.audit, pod)
  if (violations.length === 0) {
    warn(attributes, policy.warn, pod)
    return
  }
  throw forbidden(resource, name, `violates PodSecurity "${standardText(policy.enforce)}": ${detailText(violations)}`)
}

async function judgeTemplate(attributes: Attributes): Promise<void> {
  if (isExempt(attributes)) return
  const namespace = await namespaceFor(attributes)
  const { object, resource } = attributes
  if (namespace === undefined || object === undefined) return
  const { policy, errors } = policyOf(namespace.metadata.labels, settingOf(attributes).defaults)
  if (errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
  const template = templateIn(resource)?.(object)
  if (template === undefined || isExemptClass(attributes, template)) return
  annotateErrors(attributes, errors)
  auditViolations(attributes, policy.audit, template)
  warn(attributes, policy.warn, template)
}

const namespaceFor = ({ request, namespace }: Attributes): Promise<Namespace | undefined> =>
  namespaceOf(request, namespace)

function auditViolations(attributes: Attributes, standard: Standard, { metadata, spec }: Template): void {
  const text = would(standard, { ...(metadata && { metadata }), ...(spec && { spec }) })
  if (text === undefined) return
  countEvaluation(attributes, 'deny', standard, 'audit')
  annotate(attributes, 'audit-violations', text)
}

function warn(attributes: Attributes, standard: Standard, template: Template): void {
  const text = would(standard, template)
  if (text === undefined) return
  countEvaluation(attributes, 'deny', standard, 'warn')
  attributes.request.warnings.push(text)
}

function would(standard: Standard, { metadata, spec }: Template): string | undefined {
  const violations = violationsOf(standard, metadata?.annotations, spec)
  if (violations.length === 0) return undefined
  return `would violate PodSecurity "${standardText(standard)}": ${detailText(violations)}`
}

function annotateErrors(attributes: Attributes, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  countError(attributes, false)
  annotate(attributes, 'error', `Failed to parse policy: ${messageOf(errors)}`)
}

const annotate = ({ request }: Attributes, key: string, text: string): void =>
  request.record?.annotate(`${PREFIX}${key}`, text)

/** An update can change only two things that the checks read: images and ephemeral containers. */
function changesImages(pod: Pod, old: Pod): boolean {
  const changes = (now: readonly Container[] = [], before: readonly Container[] = []): boolean =>
    now.length !== before.length || now.some(({ image }, index) => image !== before[index]?.image)
  const images = new Map(old.spec?.ephemeralContainers?.map(({ name, image }) => [name, image]))
  return (
    changes(pod.spec?.containers, old.spec?.containers) ||
    changes(pod.spec?.initContainers, old.spec?.initContainers) ||
    (pod.spec?.ephemeralContainers ?? []).some(({ name, image }) => !images.has(name) || images.get(name) !== image)
  )
}
