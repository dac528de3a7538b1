import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { mutatingAdmissionPolicies, validatingAdmissionPolicies } from './admission-policies.ts'
import { mutatingAdmissionPolicyBindings, validatingAdmissionPolicyBindings } from './policy-bindings.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from './webhook-configurations.ts'

export const admissionregistrationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'mutatingadmissionpolicies.admissionregistration.k8s.io': untyped(mutatingAdmissionPolicies),
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': untyped(mutatingAdmissionPolicyBindings),
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': untyped(mutatingWebhookConfigurations),
  'validatingadmissionpolicies.admissionregistration.k8s.io': untyped(validatingAdmissionPolicies),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': untyped(validatingAdmissionPolicyBindings),
  'validatingwebhookconfigurations.admissionregistration.k8s.io': untyped(validatingWebhookConfigurations),
}
