/** Printers of admissionregistration.k8s.io, policy and rbac.authorization.k8s.io. */
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '../../api/admissionregistration/v1.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import type { PodDisruptionBudget } from '../../api/policy/v1.ts'
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../api/rbac/v1.ts'
import { age, nameOf, printer } from './cells.ts'
import { selectorDebugText } from './selector-text.ts'

const webhooks = printer<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>((object, now) => [
  nameOf(object),
  (object.webhooks ?? []).length,
  age(object, now),
])

const binding = printer<ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding>((object, now) => [
  nameOf(object),
  object.spec?.policyName ?? '',
  paramRefText(object.spec?.paramRef),
  age(object, now),
])

export const mutatingWebhookConfigurationPrinter = webhooks

export const validatingWebhookConfigurationPrinter = webhooks

export const validatingAdmissionPolicyPrinter = printer<ValidatingAdmissionPolicy>((object, now) => [
  nameOf(object),
  (object.spec?.validations ?? []).length,
  paramKindText(object.spec?.paramKind),
  age(object, now),
])

export const mutatingAdmissionPolicyPrinter = printer<MutatingAdmissionPolicy>((object, now) => [
  nameOf(object),
  (object.spec?.mutations ?? []).length,
  paramKindText(object.spec?.paramKind),
  age(object, now),
])

export const validatingAdmissionPolicyBindingPrinter = binding

export const mutatingAdmissionPolicyBindingPrinter = binding

const paramKindText = (kind: { apiVersion?: string; kind?: string } | undefined): string =>
  kind === undefined ? '<unset>' : `${kind.apiVersion ?? ''}/${kind.kind ?? ''}`

interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: LabelSelector
}

/** `*` means that the binding names no namespace. A printer cannot know whether the parameter's kind has one. */
function paramRefText(ref: ParamRef | undefined): string {
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`
  return ref?.selector === undefined ? '<unset>' : selectorDebugText(ref.selector)
}

export const podDisruptionBudgetPrinter = printer<PodDisruptionBudget>((object, now) => [
  nameOf(object),
  String(object.spec?.minAvailable ?? 'N/A'),
  String(object.spec?.maxUnavailable ?? 'N/A'),
  object.status?.disruptionsAllowed ?? 0,
  age(object, now),
])

export const bindingPrinter = printer<RoleBinding | ClusterRoleBinding>((object, now) => {
  const { roleRef = {}, subjects = [] } = object
  const names = (wanted: string, text: (subject: Subject) => string) =>
    subjects
      .filter(({ kind }) => kind === wanted)
      .map(text)
      .join(', ')
  return [
    nameOf(object),
    `${roleRef.kind ?? ''}/${roleRef.name ?? ''}`,
    age(object, now),
    names('User', ({ name = '' }) => name),
    names('Group', ({ name = '' }) => name),
    names('ServiceAccount', ({ namespace = '', name = '' }) => `${namespace}/${name}`),
  ]
})
