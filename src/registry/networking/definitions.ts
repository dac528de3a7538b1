import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { ingressClasses } from './ingress-classes.ts'
import { ingresses } from './ingresses.ts'
import { ipAddresses } from './ip-addresses.ts'
import { networkPolicies } from './network-policies.ts'
import { serviceCidrs } from './service-cidrs.ts'

export const networkingDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'ingresses.networking.k8s.io': untyped(ingresses),
  'ingressclasses.networking.k8s.io': untyped(ingressClasses),
  'ipaddresses.networking.k8s.io': untyped(ipAddresses),
  'networkpolicies.networking.k8s.io': untyped(networkPolicies),
  'servicecidrs.networking.k8s.io': untyped(serviceCidrs),
}
