import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { mutatingAdmissionPolicies, validatingAdmissionPolicies } from './admission-policies.ts'
import { mutatingAdmissionPolicyBindings, validatingAdmissionPolicyBindings } from './policy-bindings.ts'
import { webhookConfigurations } from './webhook-configurations.ts'

export const admissionregistrationStrategies: Readonly<Record<string, Strategy>> = {
  'mutatingadmissionpolicies.admissionregistration.k8s.io': untyped(mutatingAdmissionPolicies),
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': untyped(mutatingAdmissionPolicyBindings),
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': untyped(webhookConfigurations),
  'validatingadmissionpolicies.admissionregistration.k8s.io': untyped(validatingAdmissionPolicies),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': untyped(validatingAdmissionPolicyBindings),
  'validatingwebhookconfigurations.admissionregistration.k8s.io': untyped(webhookConfigurations),
}
